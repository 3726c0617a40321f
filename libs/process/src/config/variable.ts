/** The description of a variable of the environment: one text for the refusal, the dump and the documentation. */
import { z } from "zod";

export const profiles = ["dev", "production"] as const;
export type Profile = (typeof profiles)[number];

export type Variable = {
  readonly subject: string;
  /** The rule, as it is read after "must be". */
  readonly rule: string;
  readonly summary: string;
  /** The default, as written in the environment. Absent if the variable may be left out, or if its rule says when it must not. */
  readonly default?: string | { readonly [P in Profile]?: string };
  /** Whether the value is secret: never shown; may be given as a file (`…_FILE`). */
  readonly secret?: boolean;
};

export const variables = z.registry<Variable>();

export function variableOf(schema: z.ZodType): Variable {
  const variable = variables.get(schema) ?? variables.get(requiredOf(schema));
  if (!variable) throw new Error("a schema of the configuration is not registered as a variable");
  return variable;
}

/** Requires that two variables are both set, or neither. */
export const together = (one: string, other: string): Rule => ({
  keys: [one, other],
  problemsOf: (values) =>
    (values[one] === undefined) === (values[other] === undefined)
      ? []
      : [`${environmentName(one)} and ${environmentName(other)} go together: set both or none`],
});

const requiredOf = (schema: z.ZodType): z.ZodType => {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return inner instanceof z.ZodType ? inner : schema;
};

/** The variables of OpenTelemetry have the names of its standard. */
export function environmentName(key: string): string {
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return key.startsWith("otel") ? name : `POSTHASTE_${name}`;
}

export function defaultText(variable: Variable, profile: Profile): string | undefined {
  const { default: given } = variable;
  return typeof given === "object" ? given[profile] : given;
}

/** A condition between variables, which applies where the schema has all of `keys`. */
export type Rule = {
  readonly keys: readonly string[];
  /**
   * Returns problems as sentences, with the variables by their names in the environment. Values that did not parse are absent;
   * `texts` has them as they were given.
   */
  readonly problemsOf: (
    values: Readonly<Record<string, unknown>>,
    texts: Readonly<Record<string, string | undefined>>,
  ) => readonly string[];
};
