/** Values of documents, their order, and the paths to them. */

export type Plain = Readonly<Record<string, unknown>>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof Date);

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Returns `value` without fields that are undefined, as the driver sends it. */
export function sent<T>(value: T): T;
export function sent(value: unknown): unknown {
  if (isList(value)) return value.map((each) => sent(each));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      each === undefined ? [] : [[name, sent(each)]],
    ),
  );
}

/** Returns the value at `path`, and each element of an array there. A path passes through the elements of arrays. */
export function found(value: Plain, path: string): readonly unknown[] {
  if (!path.includes(".")) return path in value ? withElements(value[path]) : [];
  let values: readonly unknown[] = [value];
  for (const name of path.split("."))
    values = values.flatMap((each) => {
      if (!isList(each)) return isPlain(each) && name in each ? [each[name]] : [];
      const within = each.flatMap((one) => (isPlain(one) && name in one ? [one[name]] : []));
      return isIndex(name) && Number(name) < each.length ? [...within, each[Number(name)]] : within;
    });
  return values.flatMap(withElements);
}

const withElements = (value: unknown): readonly unknown[] =>
  isList(value) ? [value, ...value] : [value];
const isIndex = (name: string): boolean => /^\d+$/.test(name);

/** Returns the value at `path`, which passes through no array. */
export const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce((part, name) => (isPlain(part) ? part[name] : undefined), value);

/** Returns a copy of `document` with `value` at `path`; without the field if `value` is undefined. */
export function put(document: Plain, path: string, value: unknown): Plain {
  const [name = "", ...rest] = path.split(".");
  const within = rest.join(".");
  if (within === "") {
    if (value !== undefined) return { ...document, [name]: value };
    const { [name]: _, ...others } = document;
    return others;
  }
  const part: unknown = document[name];
  if (part === undefined && value === undefined) return document;
  if (part !== undefined && !isPlain(part)) throw new Error(`${path} leads through no document`);
  return { ...document, [name]: put(part ?? {}, within, value) };
}

export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((each, n) => isSame(each, b[n]));
  if (!isPlain(a) || !isPlain(b)) return false;
  // The order of fields counts, as for the server.
  const [ofA, ofB] = [Object.keys(a), Object.keys(b)];
  return (
    ofA.length === ofB.length && ofA.every((name, n) => name === ofB[n] && isSame(a[name], b[name]))
  );
}

/** Orders values as the server does: by their kinds, then within a kind. */
export function compare(a: unknown, b: unknown): number {
  const order = rankOf(a) - rankOf(b);
  if (order !== 0 || a === b) return Math.sign(order);
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : 1;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : 1;
  throw new Error(`no order of ${JSON.stringify(a)} and ${JSON.stringify(b)} in memory`);
}

/** Reports whether the two are of one kind, the only values that a bound of a filter is for. */
export const areComparable = (a: unknown, b: unknown): boolean => rankOf(a) === rankOf(b);

const ranks = { undefined: 0, number: 2, string: 3, boolean: 7 } as const;

function rankOf(value: unknown): number {
  if (value === null) return 1;
  if (isList(value)) return 5;
  if (value instanceof Uint8Array) return 6;
  if (isPlain(value)) return 4;
  const kind = typeof value;
  if (kind in ranks) return ranks[kind as keyof typeof ranks];
  throw new Error(`no ${kind} in memory`);
}
