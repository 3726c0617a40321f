export default {
  runtime: "<rootDir>/scripts/jest/runtime.js",
  testEnvironment: "<rootDir>/scripts/jest/environment.js",
  testSequencer: "<rootDir>/scripts/longest-first.js",
  testMatch: [
    "**/src/**/*.test.ts",
    "<rootDir>/services/*/process/*.test.ts",
    "<rootDir>/tests/**/*.test.ts",
    "<rootDir>/scripts/**/*.test.ts",
  ],
  transform: {},
  modulePathIgnorePatterns: ["<rootDir>/\\.toolchain", "<rootDir>/\\.cache/"],
  cacheDirectory: "<rootDir>/.cache/jest",
  maxWorkers: 2,
  // A busy host alone fails no test: every wait ends before this time, and reports what it waited for.
  testTimeout: 90_000,
};
