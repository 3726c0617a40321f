import manifest from "../package.json" with { type: "json" };

/** The version of all packages, which a release gives them together. */
export const { version } = manifest;
