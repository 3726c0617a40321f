/** The configuration in a form that may be shown: secrets only as set or not. */
import { type z } from "zod";
import { environmentName, variableOf } from "./variable.ts";

export function dumpConfig(
  schema: z.ZodObject<Readonly<Record<string, z.ZodType>>>,
  config: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([key, variable]) => [
      environmentName(key),
      shown(config[key], variableOf(variable).secret === true),
    ]),
  );
}

function shown(value: unknown, secret: boolean): string {
  if (value === undefined) return "(not set)";
  if (secret) return "(set)";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(",") : JSON.stringify(value);
}
