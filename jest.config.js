export default {
  testEnvironment: "node",
  testSequencer: "<rootDir>/scripts/longest-first.js",
  testMatch: [
    "**/src/**/*.test.ts",
    "<rootDir>/services/*/process/*.test.ts",
    "<rootDir>/tests/**/*.test.ts",
    "<rootDir>/scripts/**/*.test.ts",
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        // verbatimModuleSyntax: without it a missing or type-only import is dropped here and crashes only in Node.
        jsc: {
          parser: { syntax: "typescript" },
          target: "es2024",
          transform: { verbatimModuleSyntax: true },
          experimental: { keepImportAttributes: true },
        },
        module: { type: "es6" },
      },
    ],
  },
  // Workspace packages are symlinks into libs/, so they are transformed; real dependencies are not.
  transformIgnorePatterns: ["/node_modules/"],
  modulePathIgnorePatterns: ["<rootDir>/\\.toolchain", "<rootDir>/\\.cache/"],
  cacheDirectory: "<rootDir>/.cache/jest",
  maxWorkers: 2,
  // A busy host is no failure: whatever waits says itself what it has waited for, sooner than this.
  testTimeout: 90_000,
};
