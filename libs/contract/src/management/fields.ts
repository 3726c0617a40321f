/** Fields of the bodies that management takes. */
import * as z from "zod";

/** An object that refuses what it does not know: a misspelt limit must not be silently without effect. */
export const strictObject = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown field ${JSON.stringify(issue.keys[0])}; known are ${Object.keys(shape).join(", ")}`
        : "must be an object",
  });

export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
}

/** Without control characters, and not so long that a list of many could not be shown. */
export const line = (lengthMin: number, lengthMax: number) =>
  z
    .string("must be a string")
    .refine(
      (text) => text.length >= lengthMin && text.length <= lengthMax && !/\p{Cc}/u.test(text),
      `must be ${lengthMin} to ${lengthMax} characters on one line`,
    );

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(", ")}`);
