/** Reads objects and lists of an answer, and throws for anything else. */
export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`not an object: ${JSON.stringify(value)}`);
  }
  return Object.fromEntries(Object.entries(value));
}

export function listOf(value: unknown): readonly Json[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value.map(objectOf);
}

export function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error(`not a text: ${JSON.stringify(value)}`);
  return value;
}

export function numberOf(value: unknown): number {
  if (typeof value !== "number") throw new Error(`not a number: ${JSON.stringify(value)}`);
  return value;
}
