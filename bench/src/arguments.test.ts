import { describe, expect, it } from "@jest/globals";
import { resolve } from "node:path";
import { optionsOf, parseArguments } from "./arguments.ts";

const known = ["throughput", "latency"];

describe("parseArguments", () => {
  it("runs all scenarios without arguments", () => {
    expect(parseArguments([], known)).toEqual({
      scenarios: [],
      profile: false,
      keep: false,
    });
  });

  it("takes the names of scenarios and the options in any order", () => {
    const args = ["--rounds", "2", "latency", "--profile", "--finished", "5000", "--keep"];

    expect(parseArguments(args, known)).toEqual({
      scenarios: ["latency"],
      rounds: 2,
      finished: 5000,
      profile: true,
      keep: true,
    });
  });

  it("returns the options of a page as they were given", () => {
    const args = ["latency", "--keep", "--rounds", "2", "--finished", "5000"];

    expect(optionsOf(parseArguments(args, known))).toBe(" --finished 5000 --rounds 2");
    expect(optionsOf(parseArguments([], known))).toBe("");
  });

  it("resolves the folder of an earlier commit from the current folder", () => {
    expect(parseArguments(["--before", "../earlier"], known).before).toBe(resolve("../earlier"));
  });

  it("refuses a scenario that does not exist and names the existing ones", () => {
    expect(() => parseArguments(["troughput"], known)).toThrow("throughput, latency");
  });

  it.each(["0", "1.5", "many", "-1"])("refuses %s rounds", (rounds) => {
    expect(() => parseArguments([`--rounds=${rounds}`], known)).toThrow("whole number");
  });
});
