import { defineConfig } from "oxlint";

const nondeterminism = [
  { object: "Date", property: "now", message: "Take a Clock; see libs/ports/src/clock.ts." },
  { object: "Math", property: "random", message: "Take a Random; see libs/ports/src/random.ts." },
  { object: "process", property: "env", message: "Read configuration in config.ts only." },
  { object: "process", property: "hrtime", message: "Take a Clock." },
];
// The names are refused through globalThis and through Node's modules, too: each was once used unnoticed.
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
const withAndWithoutPrefix = (name: string): readonly string[] => [name, `node:${name}`];

export default defineConfig({
  ignorePatterns: ["**/dist", "**/node_modules", ".toolchain*", ".cache", "coverage"],
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  plugins: ["typescript"],
  jsPlugins: ["./scripts/lint-rules.js"],
  // Each rule is named, and none is enabled by its category.
  categories: { correctness: "off" },
  rules: {
    "no-array-constructor": "error",
    "no-unused-expressions": "error",
    "no-unused-vars": ["error", { args: "after-used" }],
    "typescript/ban-ts-comment": "error",
    "typescript/no-duplicate-enum-values": "error",
    "typescript/no-empty-object-type": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-extra-non-null-assertion": "error",
    "typescript/no-misused-new": "error",
    "typescript/no-namespace": "error",
    "typescript/no-non-null-asserted-optional-chain": "error",
    "typescript/no-this-alias": "error",
    "typescript/no-unnecessary-type-constraint": "error",
    "typescript/no-unsafe-declaration-merging": "error",
    "typescript/no-unsafe-function-type": "error",
    "typescript/no-wrapper-object-types": "error",
    "typescript/prefer-as-const": "error",
    "typescript/prefer-namespace-keyword": "error",
    "typescript/triple-slash-reference": "error",
    "posthaste/constant-below-the-await": "error",
  },
  overrides: [
    {
      files: ["**/*.{ts,tsx}"],
      rules: {
        "no-var": "error",
        "prefer-const": "error",
        "prefer-rest-params": "error",
        "prefer-spread": "error",
        "typescript/await-thenable": "error",
        "typescript/no-array-delete": "error",
        "typescript/no-base-to-string": "error",
        "typescript/no-duplicate-type-constituents": "error",
        "typescript/no-floating-promises": "error",
        "typescript/no-for-in-array": "error",
        "typescript/no-implied-eval": "error",
        "typescript/no-misused-promises": "error",
        "typescript/no-redundant-type-constituents": "error",
        "typescript/no-require-imports": "error",
        "typescript/no-unnecessary-type-assertion": "error",
        "typescript/no-unsafe-argument": "error",
        "typescript/no-unsafe-assignment": "error",
        "typescript/no-unsafe-call": "error",
        "typescript/no-unsafe-enum-comparison": "error",
        "typescript/no-unsafe-member-access": "error",
        "typescript/no-unsafe-return": "error",
        "typescript/no-unsafe-unary-minus": "error",
        "typescript/only-throw-error": "error",
        "typescript/prefer-promise-reject-errors": "error",
        "typescript/restrict-plus-operands": [
          "error",
          {
            allowAny: true,
            allowBoolean: true,
            allowNullish: true,
            allowNumberAndString: true,
            allowRegExp: true,
          },
        ],
        "typescript/restrict-template-expressions": "error",
        "typescript/unbound-method": "error",
        "typescript/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
        "typescript/switch-exhaustiveness-check": [
          "error",
          { considerDefaultExhaustiveForUnions: false },
        ],
        "typescript/no-non-null-assertion": "error",
        // `const { secret: _, ...rest }` leaves a field out of a copy.
        "no-unused-vars": ["error", { ignoreRestSiblings: true, argsIgnorePattern: "^_" }],
        "no-restricted-exports": ["error", { restrictDefaultExports: { direct: true } }],
        "max-lines-per-function": ["warn", { max: 70, skipComments: true, skipBlankLines: true }],
        "posthaste/specifier-that-node-cannot-find": "error",
      },
    },
    {
      files: ["**/*.ts"],
      excludeFiles: ["{tests,libs/testing}/**", "**/*.{test,fixture}.ts"],
      rules: { "posthaste/hook-of-no-suite": "error" },
    },
    {
      // A describe block may be long: its subject may have many guarantees.
      files: ["**/*.test.ts", "libs/testing/src/contract/**/*.ts"],
      rules: { "max-lines-per-function": "off" },
    },
    {
      // Jest and oxlint use the default export of such a file.
      files: ["tests/e2e/{start,stop}-{services,standalones}.ts", "oxlint.config.ts"],
      rules: { "no-restricted-exports": "off" },
    },
    {
      files: ["libs/**/*.ts", "services/**/*.ts"],
      excludeFiles: ["libs/testing/**", "**/*.{test,fixture}.ts"],
      rules: { "posthaste/kept-for-ever": "error" },
    },
    {
      files: ["{libs,services}/**/*.ts", "apps/cli/**/*.ts", "tests/simulation/model/**/*.ts"],
      excludeFiles: [
        "libs/domain/src/shared/time.ts",
        "libs/{ports,process}/src/clock.ts",
        "libs/documents-mongo/src/link/store-clock.ts",
        "libs/testing/**",
        "**/*.{test,fixture}.ts",
      ],
      rules: { "posthaste/wall-clock": "error" },
    },
    {
      // The determinism fence: time, chance and the world come in as arguments or ports.
      files: [
        "libs/{domain,ports,contract,engine}/**/*.ts",
        "services/*/{src,process}/**/*.ts",
        "tests/simulation/**/*.ts",
      ],
      excludeFiles: ["**/main.ts", "**/config.ts", "**/*.{test,fixture}.ts"],
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
        "posthaste/kept-for-ever": "error",
        "posthaste/ambient-date": "error",
        "posthaste/ambient-through-global": "error",
      },
    },
    {
      files: ["services/{gateway,management}/src/**/*.ts"],
      // The watchers read for no caller: 256 KiB of a tenant's log when it has grown.
      excludeFiles: ["**/reads.ts", "**/live-log/watchers.ts", "**/*.{test,fixture}.ts"],
      rules: { "posthaste/page-read-without-a-permit": "error" },
    },
  ],
});
