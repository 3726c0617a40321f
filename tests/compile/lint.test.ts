/** Tests what the linter's settings refuse, and where, so that a rule lost with a newer linter is noticed. */
import { describe, expect, it } from "@jest/globals";
import { lint } from "./lint.fixture.ts";

const domain = "libs/domain/src";
const gateway = "services/gateway/src";

type Case = readonly [name: string, rule: string | undefined, folder: string, text: string];

const refused: readonly Case[] = [
  [
    "a promise that nothing awaits",
    "typescript/no-floating-promises",
    "bench/src",
    "const work = async () => Promise.resolve(1); work();",
  ],
  [
    "a forgotten case",
    "typescript/switch-exhaustiveness-check",
    domain,
    'export const f = (x: "a" | "b") => { switch (x) { case "a": return 1; default: return 2; } };',
  ],
  ["any", "typescript/no-explicit-any", "tests/faults", "export const f = (x: any) => typeof x;"],
  [
    "what came as any",
    "typescript/no-unsafe-assignment",
    domain,
    'const x = JSON.parse("1"); export { x };',
  ],
  [
    "a non-null assertion",
    "typescript/no-non-null-assertion",
    domain,
    "export const f = (x?: 1) => x!;",
  ],
  [
    "a type that is imported as a value",
    "typescript/consistent-type-imports",
    domain,
    'import { Buffer } from "node:buffer"; export type B = Buffer;',
  ],
  ["a default export", "eslint/no-restricted-exports", domain, "export default 1;"],
  ["an unused variable", "eslint/no-unused-vars", domain, "const unused = 1;"],
  ["an unused variable of a script", "eslint/no-unused-vars", "scripts", "const unused = 1;"],
  [
    "an unused directive",
    undefined,
    domain,
    "// oxlint-disable-next-line no-var -- there is none\nexport const x = 1;",
  ],
  [
    "a hook in a module that suites share",
    "posthaste/hook-of-no-suite",
    domain,
    'import { afterEach } from "@jest/globals"; afterEach(() => undefined);',
  ],
  [
    "a specifier that Node does not find",
    "posthaste/specifier-that-node-cannot-find",
    "tests/faults",
    'export * from "./a.js";',
  ],
  [
    "a Map of a module that is filled",
    "posthaste/kept-for-ever",
    "libs/sender/src",
    "export const all = new Map<string, number>();",
  ],
  [
    "a Map of a service that is filled",
    "posthaste/kept-for-ever",
    gateway,
    "const all = new Map<string, number>(); export { all };",
  ],
  ["Date.now", "eslint/no-restricted-properties", domain, "export const at = Date.now();"],
  ["Math.random", "eslint/no-restricted-properties", gateway, "export const x = Math.random();"],
  ["process.env", "eslint/no-restricted-properties", gateway, "export const { env } = process;"],
  ["a timer", "eslint/no-restricted-globals", "libs/engine/src", "setTimeout(() => 1, 1);"],
  [
    "a timer through globalThis",
    "eslint/no-restricted-globals",
    domain,
    "globalThis.setTimeout(() => 1, 1);",
  ],
  [
    "a timer of Node's module",
    "eslint/no-restricted-imports",
    domain,
    'export { setTimeout } from "node:timers/promises";',
  ],
  [
    "chance of Node's module",
    "eslint/no-restricted-imports",
    domain,
    'export { randomUUID } from "node:crypto";',
  ],
  ["new Date", "posthaste/ambient-date", domain, "export const at = new Date();"],
  ["Date through globalThis", "posthaste/ambient-through-global", domain, "globalThis.Date;"],
  [
    "a duration by a wall clock",
    "posthaste/wall-clock",
    "libs/sender/src",
    "export const f = (now: number, at: number) => now - at;",
  ],
  [
    "a page that is read without a permit",
    "posthaste/page-read-without-a-permit",
    gateway,
    "export const f = (log: { list(): unknown }) => log.list();",
  ],
  [
    "a constant below the await that runs the program",
    "posthaste/constant-below-the-await",
    "scripts",
    "await run();\nasync function run() {\n  return limit;\n}\nconst limit = 1;",
  ],
];

const passes: readonly Case[] = [
  [
    "a constant made of what was awaited",
    "posthaste/constant-below-the-await",
    "scripts",
    "const name = await ask();\nconst greeting = `hello ${name}`;\nawait ask(greeting);\nfunction ask() {}",
  ],
  [
    "a clock in bench",
    "eslint/no-restricted-properties",
    "bench/src",
    "export const at = Date.now();",
  ],
  [
    "a page that is read with a permit",
    "posthaste/page-read-without-a-permit",
    gateway,
    "export const f = (reads: { list(): unknown }) => reads.list();",
  ],
  [
    "a Map that is not filled",
    "posthaste/kept-for-ever",
    domain,
    "export const none: ReadonlyMap<string, string> = new Map();",
  ],
  [
    "what a copy leaves out",
    "eslint/no-unused-vars",
    domain,
    "export const f = ({ a: _, ...rest }: { a: 1; b: 2 }) => rest;",
  ],
];

const pathOf = (folder: string, index: number): string =>
  `${folder}/case-${index}.${folder === "scripts" ? "js" : "ts"}`;
const all = [...refused, ...passes];
const found = lint(new Map(all.map(([, , folder, text], index) => [pathOf(folder, index), text])));
const rulesAt = (folder: string, text: string): readonly (string | undefined)[] =>
  found(
    pathOf(
      folder,
      all.findIndex((each) => each[2] === folder && each[3] === text),
    ),
  ).map(({ rule }) => rule);

describe("the linter refuses", () => {
  it.each(refused)("%s", (_, rule, folder, text) => {
    expect(rulesAt(folder, text)).toContain(rule);
  });
});

describe("the linter passes", () => {
  it.each(passes)("%s", (_, rule, folder, text) => {
    expect(rulesAt(folder, text)).not.toContain(rule);
  });
});
