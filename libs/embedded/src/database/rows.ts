/** Reading what SQLite gives: each helper says which type the schema promises, and throws when the file says otherwise. */
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

/** What this package itself has written as JSON: the one place where its type is taken on trust. */
export const stored = <T>(json: string): T => JSON.parse(json) as T;
