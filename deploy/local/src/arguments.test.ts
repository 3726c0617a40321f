import { describe, expect, it } from "@jest/globals";
import { parseArguments } from "./arguments.ts";

describe("the command line of the stack", () => {
  it("without a word it is the stores and the services", () => {
    const asked = parseArguments([]);

    expect(asked).toEqual({ command: "stack", untilStdinEnds: false });
  });

  it("stores takes a file and the end of the standard input, in any order", () => {
    const asked = parseArguments(["stores", "--until-stdin-ends", "--file", "f.json"]);

    expect(asked).toEqual({ command: "stores", file: "f.json", untilStdinEnds: true });
  });

  it.each([
    { args: ["store"] },
    { args: ["stores", "fetch"] },
    { args: ["stores", "--file"] },
    { args: ["fetch", "--file", "f.json"] },
    { args: ["--file", "f.json"] },
  ])("$args is answered with the usage", ({ args }) => {
    expect(() => parseArguments(args)).toThrow("usage: npm run stack");
  });
});
