/** Filters: as they stand in the address, and as the API is asked. */

export type Field = {
  /** In the address and in the API. */
  readonly name: string;
  readonly label: string;
  readonly kind:
    | "text"
    | "from"
    | "to"
    | { readonly choices: readonly (readonly [value: string, label: string])[] };
  /** Seldom used: shown when asked for, or when it is set. */
  readonly isSeldom?: boolean;
};

const minuteMs = 60_000;
const minuteLength = "2026-11-25T02:24".length;

/** Times stand as people write them, `2026-11-25T02:24` in UTC; what is none of the fields is not asked. */
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

/** To the end of the minute that is named. What is no time goes to the server, which says so. */
function timeIn(text: string, kind: "from" | "to"): number | string {
  const at = Date.parse(/T\d{2}:\d{2}$/.test(text) ? `${text}:00Z` : text);
  if (Number.isNaN(at)) return text;
  return kind === "to" ? at + minuteMs - 1 : at;
}

/** A filter as the API tells it, for the address. */
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

/** A time of the address, in UTC, as an input of the browser's time zone holds it. */
export function localInput(text: string): string {
  const at = timeIn(text, "from");
  if (text === "" || typeof at === "string") return "";
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** And back. */
export function utcInput(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : new Date(at).toISOString().slice(0, minuteLength);
}
