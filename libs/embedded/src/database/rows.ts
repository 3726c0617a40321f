/** Reads the values that SQLite returns. Each helper names the type that the schema promises, and throws when the file holds another. */
import { type SQLOutputValue } from "node:sqlite";

export type Row = Readonly<Record<string, SQLOutputValue>>;
type Value = SQLOutputValue | undefined;

export function integer(value: Value): number {
  if (typeof value !== "number")
    throw new Error(`expected an integer in the store, found ${typeof value}`);
  return value;
}

export const optionalInteger = (value: Value): number | undefined =>
  value === null ? undefined : integer(value);

export function text(value: Value): string {
  if (typeof value !== "string")
    throw new Error(`expected a text in the store, found ${typeof value}`);
  return value;
}

export const optionalText = (value: Value): string | undefined =>
  value === null ? undefined : text(value);

function bytes(value: Value): Uint8Array {
  if (!(value instanceof Uint8Array))
    throw new Error(`expected bytes in the store, found ${typeof value}`);
  return value;
}

export const optionalBytes = (value: Value): Uint8Array | undefined =>
  value === null ? undefined : bytes(value);

/** Parses JSON that this package has written. This is the one place where its type is taken on trust. */
export const stored = <T>(json: string): T => JSON.parse(json) as T;
