import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";
import { wallClock } from "./scripts/wall-clock.js";

const nondeterminism = [
  { object: "Date", property: "now", message: "Take a Clock; see libs/ports/src/clock.ts." },
  { object: "Math", property: "random", message: "Take a Random; see libs/ports/src/random.ts." },
  { object: "process", property: "env", message: "Read configuration in config.ts only." },
  { object: "process", property: "hrtime", message: "Take a Clock." },
];
// Through globalThis and through Node's modules, too: each of these passed unseen before it was named.
const ambientGlobals = [
  "setTimeout",
  "setInterval",
  "setImmediate",
  "fetch",
  "performance",
  "crypto",
];
const ambientModules = ["timers", "timers/promises", "process", "perf_hooks"];
const randomImports = ["default", "randomUUID", "randomBytes", "randomInt", "webcrypto"];
const withAndWithoutPrefix = (name) => [name, `node:${name}`];

const errorsOfAnotherRealm = {
  selector: "BinaryExpression[operator='instanceof'][right.name=/Error$/]",
  message: "Use Error.isError: errors from Node's own modules are of another realm under Jest.",
};
const specifiersThatNodeCannotFind = {
  selector:
    ":matches(ImportDeclaration, ExportNamedDeclaration, ExportAllDeclaration)[source.value=/^[.].*[.]js$/]",
  message: "Name the .ts file: tsc accepts .js here, Node finds nothing.",
};
// A Map that callers fill would live as long as the process, and give nothing back (ADR 115).
const emptyMap =
  "VariableDeclarator:not([id.typeAnnotation.typeAnnotation.typeName.name=/^Readonly(Map|Set)$/]) > NewExpression[callee.name=/^(Map|Set|TurnoverMap)$/][arguments.length=0]";
const keptForEver = {
  selector: `Program > VariableDeclaration > ${emptyMap}, ExportNamedDeclaration > VariableDeclaration > ${emptyMap}`,
  message:
    "Take a TextCache: nothing bounds a Map that is filled for as long as the process lives.",
};
const everywhere = [errorsOfAnotherRealm, specifiersThatNodeCannotFind];
const ambientSyntax = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: "Take a Clock.",
  },
  { selector: "CallExpression[callee.name='Date']", message: "Take a Clock." },
  {
    selector:
      "MemberExpression[object.name=/^(globalThis|global)$/][property.name=/^(Date|Math|process)$/]",
    message: "Write Date, Math and process without globalThis, so that their rules see them.",
  },
];

// Lists are read by the holder of a seat in the room for long answers.
const pageReads = {
  selector:
    "CallExpression[callee.property.name=/^(list|counts|failed|parts|attempts|history|endpoints|page|tenantPage)$/][callee.object.name!=/^(reads|failures)$/][callee.object.type!='CallExpression']",
  message: "Ask `reads(seat)`: services/{gateway,management}/src/reads.ts.",
};

export default defineConfig(
  globalIgnores(["**/dist/", "**/node_modules/", ".toolchain*/", ".cache/", "coverage/"]),
  {
    files: ["**/*.js", "**/*.cjs"],
    extends: [tseslint.configs.recommended],
    rules: { "@typescript-eslint/no-require-imports": "off" },
  },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["tsconfig.json", "apps/console/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: false },
      ],
      "@typescript-eslint/no-non-null-assertion": "error",
      // `const { secret: _, ...rest }` is how a copy leaves something out.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { ignoreRestSiblings: true, argsIgnorePattern: "^_" },
      ],
      // An adapter over a synchronous driver is async on purpose: a throw must become a rejection.
      "@typescript-eslint/require-await": "off",
      "no-restricted-exports": ["error", { restrictDefaultExports: { direct: true } }],
      "no-restricted-syntax": ["error", ...everywhere],
      "max-lines-per-function": ["warn", { max: 70, skipComments: true, skipBlankLines: true }],
    },
  },
  {
    // A describe block is as long as its subject has guarantees.
    files: ["**/*.test.ts", "libs/testing/src/contract/**/*.ts"],
    rules: { "max-lines-per-function": "off" },
  },
  {
    // Jest takes what such a file exports by default.
    files: ["tests/e2e/{start,stop}-services.ts"],
    rules: { "no-restricted-exports": "off" },
  },
  {
    files: ["libs/**/*.ts", "services/**/*.ts"],
    ignores: ["libs/testing/**", "**/*.{test,fixture}.ts"],
    rules: { "no-restricted-syntax": ["error", ...everywhere, keptForEver] },
  },
  {
    files: ["{libs,services}/**/*.ts", "apps/cli/**/*.ts", "tests/simulation/model/**/*.ts"],
    ignores: [
      "libs/domain/src/shared/time.ts",
      "libs/{ports,process}/src/clock.ts",
      "libs/documents-mongo/src/store-clock.ts",
      "libs/testing/**",
      "**/*.{test,fixture}.ts",
    ],
    plugins: { posthaste: { rules: { "wall-clock": wallClock } } },
    rules: { "posthaste/wall-clock": "error" },
  },
  {
    // The determinism fence: time, chance and the world come in as arguments or ports.
    files: [
      "libs/{domain,ports,contract,engine}/**/*.ts",
      "services/*/{src,process}/**/*.ts",
      "tests/simulation/**/*.ts",
    ],
    ignores: ["**/main.ts", "**/config.ts", "**/*.{test,fixture}.ts"],
    rules: {
      "no-restricted-properties": ["error", ...nondeterminism],
      "no-restricted-globals": ["error", { globals: ambientGlobals, checkGlobalObject: true }],
      "no-restricted-imports": [
        "error",
        {
          paths: [
            ...ambientModules.flatMap(withAndWithoutPrefix),
            ...withAndWithoutPrefix("crypto").map((name) => ({
              name,
              importNames: randomImports,
              message: "Take a Random.",
            })),
          ],
        },
      ],
      "no-restricted-syntax": ["error", ...everywhere, keptForEver, ...ambientSyntax],
    },
  },
  {
    files: ["services/{gateway,management}/src/**/*.ts"],
    // The watchers read for no caller: 256 KiB of a tenant's log when that has grown.
    ignores: ["**/reads.ts", "**/live-log/watchers.ts", "**/*.{test,fixture}.ts"],
    rules: { "no-restricted-syntax": ["error", ...everywhere, ...ambientSyntax, pageReads] },
  },
);
