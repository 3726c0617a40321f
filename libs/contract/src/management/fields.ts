/** Fields in the bodies of management. */
import * as z from "zod";

export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
}

/** One line without control characters, short enough that a list of many can be shown. */
export const line = (lengthMin: number, lengthMax: number) =>
  z
    .string("must be a string")
    .refine(
      (text) => text.length >= lengthMin && text.length <= lengthMax && !/\p{Cc}/u.test(text),
      `must be ${lengthMin} to ${lengthMax} characters on one line`,
    );

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(", ")}`);
