/** The fields of a filter as parameters of a query. A filter's field without a row does not compile. */
import { type Fault, isFault } from "@posthaste/domain";
import { integer, parameterFault, type QueryValues, several } from "./query-values.ts";

export type Field<Value> = {
  /** Names of the parameters; none if the list has no such filter. */
  readonly names: readonly string[];
  /** The parameter by which a shown filter names this field. */
  readonly shownAs: string;
  readonly read: (values: QueryValues) => Value | undefined | Fault;
};

export type Fields<Filter> = {
  readonly [Name in keyof Filter]-?: Field<NonNullable<Filter[Name]>>;
};

export const field = <Value>(
  names: readonly [string, ...string[]],
  read: (values: QueryValues, names: readonly string[]) => Value | undefined | Fault,
): Field<Value> => ({ names, shownAs: names[0], read: (values) => read(values, names) });

/** Returns a field that this list does not accept. */
export const notAsked = (shownAs: string): Field<never> => ({
  names: [],
  shownAs,
  read: () => undefined,
});

export const namesOf = (fields: Readonly<Record<string, Field<unknown>>>): readonly string[] => [
  ...new Set(Object.values(fields).flatMap(({ names }) => names)),
];

/** Reads a filter. A field that was not given is absent. */
export function readFields<Filter extends object>(
  fields: Fields<Filter>,
  values: QueryValues,
): Filter | Fault {
  const found: [string, unknown][] = [];
  for (const name in fields) {
    const value = fields[name].read(values);
    if (isFault(value)) return value;
    if (value !== undefined) found.push([name, value]);
  }
  return Object.fromEntries(found) as Filter;
}

/** Returns a filter under the names that a caller would use. */
export function shownFields<Filter extends object>(
  fields: Fields<Filter>,
  filter: Filter,
): Readonly<Record<string, readonly string[]>> {
  const shown: Record<string, readonly string[]> = {};
  for (const name in fields) {
    const value = filter[name];
    if (value !== undefined) shown[fields[name].shownAs] = [value].flat().map(String);
  }
  return shown;
}

/** The last moment that a Date can hold. */
export const dateMax = 8_640_000_000_000_000;

const date = (values: QueryValues, name: string) => integer(values, name, { min: 0, max: dateMax });

export const times: Fields<{ readonly from?: number; readonly to?: number }> = {
  from: field(["fromDate"], (values) => {
    const from = date(values, "fromDate");
    const to = date(values, "toDate");
    return typeof from === "number" && typeof to === "number" && from > to
      ? parameterFault("fromDate", "must not be after toDate")
      : from;
  }),
  to: field(["toDate"], (values) => date(values, "toDate")),
};

/** Host and path of a destination, or of a workflow's endpoint. */
export const place: Fields<{
  readonly hosts?: readonly string[];
  readonly paths?: readonly string[];
}> = {
  hosts: field(["host"], several),
  paths: field(["path"], (values, names) => several(values, names, true)),
};
