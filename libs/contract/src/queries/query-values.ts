/** The parameters of a query: each name with all its values. An unknown name is refused. */
import { isIP } from "node:net";
import { type Fault, fault, isFault, limits, standardUrl } from "@posthaste/domain";
import { isName, nameForm } from "../wire/text.ts";
import { unknownText } from "../wire/unknown-name.ts";

/** Unknown names are refused because a misspelt filter of a bulk delete would delete everything. */
export type QueryValues = ReadonlyMap<string, readonly string[]>;

const noNames: ReadonlySet<string> = new Set();
/** A URL is the longest value. */
const valueLengthMax = limits.urlLengthMax;
export const valuesMax = 1_000;

/** The token was read earlier. */
const tokenName = "qstash_token";
/**
 * Parameters without effect that older clients send to lists of messages. A call that changes something refuses them:
 * without them all messages would be meant.
 */
export const withoutEffect: ReadonlySet<string> = new Set(["api"]);

/** `search` is the text after the `?`. */
export function readQuery(
  search: string,
  known: ReadonlySet<string>,
  ignored: ReadonlySet<string> = noNames,
): QueryValues | Fault {
  const values = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === tokenName || ignored.has(name)) continue;
    if (!known.has(name)) return unknownName(name, known);
    if (++count > valuesMax) return parameterFault(name, `must hold at most ${valuesMax} values`);
    const form = `must be at most ${valueLengthMax} characters`;
    if (value.length > valueLengthMax) return parameterFault(name, form);
    const given = values.get(name);
    if (given) given.push(value);
    else values.set(name, [value]);
  }
  return values;
}

export const parameterFault = (name: string, must: string): Fault =>
  fault("malformed", `${name}: ${must}`);

export const unknownName = (name: string, known: ReadonlySet<string>): Fault =>
  fault("malformed", unknownText("parameter", name, known));

export function single(values: QueryValues, name: string): string | undefined | Fault {
  const given = values.get(name);
  if (!given) return undefined;
  return given.length > 1 ? parameterFault(name, "must be given once") : given[0];
}

/** Returns the values of a parameter that may be repeated or, unless `whole`, may hold several values between commas. */
export function several(
  values: QueryValues,
  names: readonly string[],
  whole = false,
): readonly string[] | undefined | Fault {
  const all: string[] = [];
  for (const name of names) {
    for (const value of values.get(name) ?? []) {
      const parts = whole ? [value] : value.split(",", valuesMax + 1).map((part) => part.trim());
      // An empty value must not remove a filter.
      if (parts.some((part) => part === "")) return parameterFault(name, "must not be empty");
      all.push(...parts);
      if (all.length > valuesMax)
        return parameterFault(name, `must hold at most ${valuesMax} values`);
    }
  }
  return all.length > 0 ? all : undefined;
}

/**
 * Returns URLs by which to find messages: each as given, since older messages have theirs in that form, and as it is
 * read now (ADR 130). A URL may contain commas.
 */
export function severalUrls(
  values: QueryValues,
  names: readonly string[],
): readonly string[] | undefined | Fault {
  const given = several(values, names, true);
  if (given === undefined || isFault(given)) return given;
  return [...new Set(given.flatMap((url) => [url, standardUrl(url)]))];
}

/** The form of a parameter's values. A filter by a value of another form would find nothing and not say why. */
export type ValueForm = { readonly is: (value: string) => boolean; readonly form: string };
export const nameValue: ValueForm = { is: isName, form: nameForm };
export const addressValue: ValueForm = {
  is: (value) => isIP(value) !== 0,
  form: "must be an IP address, such as 192.0.2.1",
};

/** Returns the values as `several` does, and refuses a value that does not have the form. */
export function severalOf(
  { is, form }: ValueForm,
  values: QueryValues,
  names: readonly string[],
): readonly string[] | undefined | Fault {
  for (const name of names) {
    const given = several(values, [name]);
    if (isFault(given)) return given;
    if (given?.some((value) => !is(value))) return parameterFault(name, form);
  }
  return several(values, names);
}

export type Range = { readonly min: number; readonly max: number };

export function flag(values: QueryValues, name: string, absent = false): boolean | Fault {
  const text = single(values, name) ?? String(absent);
  if (isFault(text)) return text;
  return text === "true" || text === "false"
    ? text === "true"
    : parameterFault(name, "must be true or false");
}

/** Reads an integer in a range, both ends included. */
export function integer(
  values: QueryValues,
  name: string,
  range: Range,
): number | undefined | Fault {
  const text = single(values, name);
  return text === undefined || isFault(text) ? text : parseInteger(name, text, range);
}

export function parseInteger(name: string, text: string, { min, max }: Range): number | Fault {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  return parameterFault(name, `must be an integer from ${min} to ${max}`);
}
