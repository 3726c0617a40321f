/** Shapes that answers share. Absent fields are left out, never null. */
import * as z from "zod";

export type JsonOf<S extends z.ZodType> = DeepReadonly<z.output<S>>;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export const headersShape = z
  .record(z.string(), z.array(z.string()))
  .describe("Header names in canonical form, each with its values");
export const millisecondsShape = z.int().describe("Unix timestamp in milliseconds");
export const cursorShape = z
  .string()
  .optional()
  .describe("The cursor of the next page; absent on the last page");
export const errorSchema = z.object({ error: z.string() }).meta({ id: "Error" });
