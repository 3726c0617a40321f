import * as z from "zod";
import { unknownText } from "../wire/unknown-name.ts";

/** An object with a fixed list of fields, as every JSON body of an endpoint is read. */
export const strictObject = <S extends z.core.$ZodShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? unknownText("field", String(issue.keys[0]), Object.keys(shape))
        : "must be an object",
  });
