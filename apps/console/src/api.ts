/** The API of the server that the console came from: same origin, one folder above it. */

/** As the server wrote it. What is shown of it goes through `textOf`. */
export type Row = Readonly<Record<string, unknown>>;

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function call(token: string, method: string, path: string): Promise<unknown> {
  const response = await fetch(new URL(`../${path}`, document.baseURI), {
    method,
    headers: { Authorization: `Bearer ${token}` },
    credentials: "omit",
    cache: "no-store",
  });
  const text = await response.text();
  const json: unknown = text === "" ? {} : JSON.parse(text);
  if (response.ok) return json;
  const { error } = rowOf(json);
  throw new Refused(response.status, textOf(error) || `the server answered ${response.status}`);
}

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;

export const rowOf = (value: unknown): Row => (isRow(value) ? value : {});

/** Those of a list, or of the field of an answer that holds it. */
export function rowsOf(value: unknown, field?: string): readonly Row[] {
  const list = field === undefined ? value : rowOf(value)[field];
  return Array.isArray(list) ? list.filter(isRow) : [];
}

const controls =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that would hide or turn what is beside them are shown by their number. */
export function textOf(value: unknown, charsMax = 20_000): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
  const numbered = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return cut.replace(controls, numbered);
}

/** A body, which the log holds as base64. */
export function bodyOf(value: unknown): string {
  if (typeof value !== "string") return "";
  try {
    return textOf(
      new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0))),
    );
  } catch {
    return textOf(value);
  }
}

export const timeOf = (value: unknown): string => {
  if (typeof value !== "number" || Math.abs(value) > 8.64e15) return textOf(value);
  return value === 0 ? "" : new Date(value).toISOString().replace("T", " ").replace("Z", "");
};
