import { describe, expect, it } from "@jest/globals";
import { environmentOf, execForm, lastStage, parseDockerfile, stageNamed } from "./dockerfile.ts";
import { parseDockerignore } from "./dockerignore.ts";

describe("a Dockerfile is read", () => {
  const stages = parseDockerfile(
    [
      "# a comment",
      "FROM node:24.1.0 AS node",
      "FROM node AS install",
      "RUN one \\",
      "    # in between",
      "    two",
      "FROM node",
      "ENV A=1 \\",
      "    B=x=y",
      'HEALTHCHECK --interval=1s CMD ["node", "a.js"]',
    ].join("\n"),
  );

  it("by stage, with lines continued and comments left out", () => {
    expect(stageNamed(stages, "install")).toEqual([
      { keyword: "FROM", text: "node AS install" },
      { keyword: "RUN", text: "one two" },
    ]);
    expect(environmentOf(lastStage(stages))).toEqual({ A: "1", B: "x=y" });
  });

  it("down to the words of the exec form, and refuses a line for the shell", () => {
    expect(execForm('--interval=1s CMD ["node", "a.js"]')).toEqual(["node", "a.js"]);
    expect(() => execForm("CMD node a.js")).toThrow();
  });
});

describe("of .dockerignore", () => {
  it("the last line that matches a path, or a folder above it, decides", () => {
    const isIgnored = parseDockerignore("*\n!a\na/*\n!a/b\n**/*.test.ts\n**/node_modules");

    const paths = ["c", ".env", "a/c/d", "a/b/c.ts", "a/b/c.test.ts", "a/b/node_modules/d"];
    expect(paths.filter(isIgnored)).toEqual(paths.filter((path) => path !== "a/b/c.ts"));
  });
});
