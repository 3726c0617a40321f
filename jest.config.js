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
  // A busy host is not a failure: every wait reports what it has waited for, sooner than this.
  testTimeout: 90_000,
};
