import * as z from "zod";

/** An object that refuses what it does not know: a misspelt limit must not be silently without effect. */
export const strictObject = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown field ${JSON.stringify(issue.keys[0])}; known are ${Object.keys(shape).join(", ")}`
        : "must be an object",
  });
