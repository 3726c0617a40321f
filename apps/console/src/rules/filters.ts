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

export const isFiltered = (search: URLSearchParams, fields: readonly Field[]): boolean =>
  fields.some(({ name }) => (search.get(name) ?? "") !== "");
