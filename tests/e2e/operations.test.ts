import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { gatewayEndpoints, managementEndpoints, rawTargets } from "@posthaste/contract";
import { suites } from "./operations.ts";

const routed = [...Object.entries(gatewayEndpoints), ...Object.entries(managementEndpoints)];
const paths = new Map<string, string>([
  ...routed.map(([id, { path }]) => [id, path] as const),
  ...rawTargets.map(({ operation, prefix }) => [operation, prefix] as const),
]);

const segmentsOf = (id: string): readonly string[] =>
  (paths.get(id) ?? "").split("/").filter((segment) => segment !== "" && !segment.startsWith("{"));

describe("each operation of the API has a suite over a real server", () => {
  it("under a name that no other table has", () => {
    expect(Object.keys(suites).toSorted()).toEqual([...paths.keys()].toSorted());
    expect(paths.size).toBe(routed.length + rawTargets.length);
  });

  it.each(Object.entries(suites))("%s: %s.e2e names its path", (id, suite) => {
    const text = readFileSync(new URL(`${suite}.e2e.test.ts`, import.meta.url), "utf8");

    expect(segmentsOf(id).filter((segment) => !text.includes(segment))).toEqual([]);
  });
});
