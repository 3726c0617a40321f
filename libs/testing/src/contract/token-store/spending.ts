import { expect } from "@jest/globals";
import { type TokenGuarantee } from "./harness.ts";

const hourMs = 3_600_000;

export function spending(it: TokenGuarantee): void {
  it("spending is counted under its name, up to its bound", async ({ tokens }) => {
    const spend = (n: number, name = "a") => tokens.spend(name, n, 10, hourMs);

    expect(await spend(4)).toEqual({ isWithin: true, left: 6 });
    expect(await spend(7)).toEqual({ isWithin: false, left: 6 });
    expect(await spend(6)).toEqual({ isWithin: true, left: 0 });
    expect(await spend(1)).toEqual({ isWithin: false, left: 0 });
    expect(await spend(1, "b")).toEqual({ isWithin: true, left: 9 });
  });

  it("spending may be given back, also beyond the bound", async ({ tokens }) => {
    await tokens.spend("a", 10, 10, hourMs);
    await tokens.spend("a", -4, Number.MAX_SAFE_INTEGER, hourMs);

    expect(await tokens.spend("a", 5, 10, hourMs)).toEqual({ isWithin: false, left: 4 });
    expect(await tokens.spend("a", 4, 10, hourMs)).toEqual({ isWithin: true, left: 0 });
  });

  it("many that spend at once never exceed the bound", async (harness) => {
    const { tokens, other = tokens } = harness;
    const spent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? tokens : other).spend("a", 1, 25, hourMs)),
    );

    expect(spent.filter(({ isWithin }) => isWithin)).toHaveLength(25);
  });

  it("a lowered bound leaves nothing to spend, and takes nothing back", async ({ tokens }) => {
    await tokens.spend("a", 8, 10, hourMs);

    expect(await tokens.spend("a", 1, 5, hourMs)).toEqual({ isWithin: false, left: 0 });
    expect(await tokens.spend("a", 2, 10, hourMs)).toEqual({ isWithin: true, left: 0 });
  });

  it("spending is forgotten after its time", async ({ advance, tokens }) => {
    await tokens.spend("a", 10, 10, 500);
    await advance(600);

    expect(await tokens.spend("a", 10, 10, 500)).toEqual({ isWithin: true, left: 0 });
  });
}
