import type * as z from "zod";
import { type BodyRow } from "../endpoints/endpoint.ts";
import { jsonBytesMax, parseJson } from "./json.ts";

export const jsonBody = <S extends z.ZodType>(schema: S): BodyRow<z.output<S>> => ({
  schema,
  bytesMax: jsonBytesMax,
  parse: (bytes) => parseJson(bytes, schema),
});
