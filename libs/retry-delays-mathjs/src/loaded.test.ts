/** Tests when mathjs is loaded: it takes half a second of a core, and 60 MiB for as long as the process lives. */
import { describe, expect, it } from "@jest/globals";
import { modulesLoadedBy } from "@posthaste/testing";

const entry = JSON.stringify(new URL("retry-delays.ts", import.meta.url).href);
const loadedBy = async (what: string): Promise<number> => {
  const loaded = await modulesLoadedBy(`const { retryDelays } = await import(${entry}); ${what}`);
  return loaded.filter((url) => url.includes("/node_modules/mathjs/")).length;
};

describe("mathjs is loaded", () => {
  it.each([
    ["has no expression", "retryDelays();"],
    ["has a plain number", 'retryDelays().check("1000", 3, "field");'],
  ])("by no message that %s", async (_, what) => {
    expect(await loadedBy(what)).toBe(0);
  });

  it("by the first expression", async () => {
    expect(await loadedBy('retryDelays().check("1+1", 3, "field");')).toBeGreaterThan(0);
  });

  it("before any expression, where none may wait for it", async () => {
    expect(await loadedBy("retryDelays({ loadedAhead: true });")).toBeGreaterThan(0);
  });
});
