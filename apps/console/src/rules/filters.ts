/** Converts filters between the address and the API. */

export type Field = {
  /** The name in the address and in the API. */
  readonly name: string;
  readonly label: string;
  readonly kind:
    | "text"
    | "from"
    | "to"
    | { readonly choices: readonly (readonly [value: string, label: string])[] };
  /** Shown on demand, or when set. */
  readonly isSeldom?: boolean;
};

const minuteMs = 60_000;
const minuteLength = "2026-11-25T02:24".length;

/** Reads times as people write them, `2026-11-25T02:24` in UTC. Drops names that are not fields. */
export function queryOf(
  search: URLSearchParams,
  fields: readonly Field[],
): Readonly<Record<string, string>> {
  const query: Record<string, string> = {};
  for (const { name, kind } of fields) {
    const value = search.get(name) ?? "";
    if (value === "") continue;
    query[name] = kind === "from" || kind === "to" ? String(timeIn(value, kind)) : value;
  }
  const cursor = search.get("cursor") ?? "";
  return cursor === "" ? query : { ...query, cursor };
}

/** Returns the end of the minute for `to`. Leaves an invalid time to the server, which refuses it. */
function timeIn(text: string, kind: "from" | "to"): number | string {
  const at = Date.parse(/T\d{2}:\d{2}$/.test(text) ? `${text}:00Z` : text);
  if (Number.isNaN(at)) return text;
  return kind === "to" ? at + minuteMs - 1 : at;
}

/** Converts a filter of the API for the address. */
export function searchOf(filter: Readonly<Record<string, readonly string[]>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(filter)) {
    const text = values.join(",");
    const at = name.endsWith("Date") ? new Date(Number(text)) : undefined;
    search.set(name, at === undefined ? text : at.toISOString().slice(0, minuteLength));
  }
  return search;
}

export const isFiltered = (search: URLSearchParams, fields: readonly Field[]): boolean =>
  fields.some(({ name }) => (search.get(name) ?? "") !== "");

const two = (value: number): string => String(value).padStart(2, "0");

/** Converts a time of the address, in UTC, for an input in the browser's zone. */
export function localInput(text: string): string {
  const at = timeIn(text, "from");
  if (text === "" || typeof at === "string") return "";
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function utcInput(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : new Date(at).toISOString().slice(0, minuteLength);
}
