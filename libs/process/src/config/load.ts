/**
 * Reads the configuration, and reports all problems at once, each with the variable, its rule and its default. Nothing else in the
 * product reads the environment, except AWS' own variables (libs/distributed/src/bus.ts) and those of OpenTelemetry's exporters.
 */
import { readFileSync } from "node:fs";
import { nearestName } from "@posthaste/domain";
import { type z } from "zod";
import { callerVariables } from "./callers.ts";
import { credentialRules } from "./credentials.ts";
import { managementRules } from "./management.ts";
import { configSchemas } from "./services.ts";
import { oidcRules } from "./oidc.ts";
import { storeRules } from "./stores.ts";
import {
  defaultText,
  environmentName,
  profiles,
  type Rule,
  type Variable,
  variableOf,
} from "./variable.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Loaded<T> =
  | { readonly kind: "loaded"; readonly config: Readonly<T> }
  /** `message`: several lines, for people, without secrets. */
  | { readonly kind: "refused"; readonly message: string };

export type LoadOptions = {
  readonly env: Environment;
  readonly readFile?: (path: string) => string;
};

type Shape = Readonly<Record<string, z.ZodType>>;
type Texts = Readonly<Record<string, string | undefined>>;
type Files = ReadonlyMap<string, "read" | "unread">;

const prefix = "POSTHASTE_";
const rules: readonly Rule[] = [
  ...credentialRules,
  ...managementRules,
  ...oidcRules,
  ...storeRules,
];

export function loadConfig<S extends Shape>(
  schema: z.ZodObject<S>,
  { env, readFile = readText }: LoadOptions,
): Loaded<z.output<z.ZodObject<S>>> {
  const given = givenTexts(schema.shape, env, readFile);
  const texts = withDefaults(schema.shape, given.texts);
  const parsed = parseEach(schema.shape, texts, given.files);
  const isRead = (key: string): boolean => given.files.get(key) !== "unread";
  const problems = [
    ...given.problems,
    ...parsed.problems,
    ...rules
      .filter(({ keys }) => keys.every((key) => key in schema.shape && isRead(key)))
      .flatMap(({ problemsOf }) => problemsOf(parsed.values, texts)),
    ...unknownVariables(env),
  ];
  if (problems.length > 0) return { kind: "refused", message: messageOf(problems) };
  return { kind: "loaded", config: Object.freeze(schema.parse(texts)) };
}

const readText = (path: string): string => readFileSync(path, "utf8");

/** Returns the variables that are set. An empty one counts as not set, since compose files cannot leave one out. */
function givenTexts(
  shape: Shape,
  env: Environment,
  readFile: (path: string) => string,
): { texts: Texts; files: Files; problems: readonly string[] } {
  const texts: Record<string, string | undefined> = {};
  const files = new Map<string, "read" | "unread">();
  const problems: string[] = [];
  for (const [key, schema] of Object.entries(shape)) {
    const name = environmentName(key);
    const file = variableOf(schema).secret ? env[`${name}_FILE`] : undefined;
    if (env[name]) texts[key] = env[name];
    if (!file) continue;
    if (env[name]) problems.push(`${name} and ${name}_FILE are both set: use one`);
    try {
      // Editors and secret stores end a file with a line break.
      texts[key] = readFile(file).replace(/\r?\n$/, "");
      files.set(key, "read");
    } catch (error) {
      files.set(key, "unread");
      problems.push(`${name}_FILE cannot be read: ${codeOf(error)}`);
    }
  }
  return { texts, files, problems };
}

function withDefaults(shape: Shape, given: Texts): Texts {
  const texts: Record<string, string | undefined> = { ...given };
  const ownProfile = given["profile"] ?? defaultOf(shape["profile"]);
  const profile = profiles.find((name) => name === ownProfile) ?? "production";
  for (const [key, schema] of Object.entries(shape)) {
    texts[key] ??= defaultText(variableOf(schema), profile);
  }
  return texts;
}

const defaultOf = (schema: z.ZodType | undefined): string | undefined =>
  schema && defaultText(variableOf(schema), "production");

function parseEach(
  shape: Shape,
  texts: Texts,
  files: Files,
): { values: Readonly<Record<string, unknown>>; problems: readonly string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, schema] of Object.entries(shape)) {
    // A file that cannot be read is one problem, and its variable is not checked further.
    if (files.get(key) === "unread") continue;
    const result = schema.safeParse(texts[key]);
    if (result.success) values[key] = result.data;
    else {
      const name = environmentName(key);
      const given = files.has(key) ? `the contents of ${name}_FILE` : name;
      problems.push(wrongValue(given, variableOf(schema), texts[key]));
    }
  }
  return { values, problems };
}

function wrongValue(name: string, variable: Variable, text: string | undefined): string {
  const shown = variable.secret ? "" : ` is ${JSON.stringify(text?.slice(0, shownLengthMax))}:`;
  return `${name}${shown} must be ${variable.rule} (${describeDefault(variable)})`;
}

const shownLengthMax = 80;

/** `default 8080`, `default on in dev, off in production`, `no default`. */
export function describeDefault({ default: given }: Variable): string {
  if (given === undefined) return "no default";
  if (typeof given === "string") return `default ${given}`;
  const each = Object.entries(given).map(([profile, text]) => `${text} in ${profile}`);
  return `default ${each.join(", ")}`;
}

/** A misspelt variable must not be silently without effect. */
function unknownVariables(env: Environment): readonly string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !knownNames.has(name) && !passedOver.has(name))
    .map((name) => {
      const nearest = nearestName(name, knownNames);
      return `${name} is not a variable of Posthaste${nearest ? `: is it ${nearest}?` : ""}`;
    });
}

/** Variables of callers, of the local stack and of the tests: they may be set in the shell that starts a service by hand. */
const passedOver: ReadonlySet<string> = new Set([
  ...Object.keys(callerVariables),
  "POSTHASTE_CACHE",
  "POSTHASTE_TEST_SHAPE",
  "POSTHASTE_TEST_STORES",
]);

/** The variables of all services: a shared environment may hold those of another service. */
const knownNames: ReadonlySet<string> = new Set(
  Object.values(configSchemas)
    .flatMap(({ shape }) => Object.entries<z.ZodType>(shape))
    .flatMap(([key, schema]) => {
      const name = environmentName(key);
      return variableOf(schema).secret ? [name, `${name}_FILE`] : [name];
    }),
);

export function messageOf(problems: readonly string[]): string {
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return [`The configuration has ${count}:`, ...problems.map((problem) => `  - ${problem}`)].join(
    "\n",
  );
}

const codeOf = (error: unknown): string =>
  Error.isError(error) && "code" in error ? String(error.code) : "unknown error";
