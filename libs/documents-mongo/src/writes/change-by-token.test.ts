import { describe, expect, it } from "@jest/globals";
import { fault } from "@posthaste/domain";
import { seededRandom } from "@posthaste/testing";
import { changeByToken, type ChangeSteps, type Marked } from "./change-by-token.ts";

/** Returns the steps of one document. The first `swapsLeftOut` writes hold but report failure, as when their replies are lost. */
function aDocument(swapsLeftOut = 0): ChangeSteps<number> & { stored: Marked<number> | undefined } {
  const document = {
    stored: { item: 1, write: "first" } as Marked<number> | undefined,
    random: seededRandom(1),
    find: async () => document.stored,
    swap: async (seen: string, next: Marked<number>) => {
      if (document.stored?.write !== seen) return false;
      document.stored = next;
      return swapsLeftOut-- <= 0;
    },
  };
  return document;
}

const raised = (item: number): number => item + 1;

describe("a change", () => {
  it("whose reply was lost is made once", async () => {
    const document = aDocument(1);

    expect(await changeByToken(document, raised)).toBe(2);
    expect(document.stored?.item).toBe(2);
  });

  it("after another change is made to the result of that change", async () => {
    const document = aDocument();
    let others = 3;
    const crowded = {
      ...document,
      find: async () => {
        const seen = await document.find();
        if (others-- > 0) document.stored = { item: 10 * others, write: `other ${others}` };
        return seen;
      },
    };

    expect(await changeByToken(crowded, raised)).toBe(1);
    expect(document.stored?.item).toBe(1);
  });

  it("that never gets its turn is refused, and changes nothing", async () => {
    const document = aDocument();
    const lost = { ...document, swap: async () => false };

    await expect(changeByToken(lost, raised)).rejects.toMatchObject({ code: "overloaded" });
    expect(document.stored?.item).toBe(1);
  });

  it("that is a fault is not written", async () => {
    const document = aDocument();
    const refused = fault("not_found", "closed");

    expect(await changeByToken(document, () => refused)).toBe(refused);
    expect(document.stored).toEqual({ item: 1, write: "first" });
  });

  it("of a missing document does nothing", async () => {
    const document = aDocument();
    document.stored = undefined;

    expect(await changeByToken(document, raised)).toBeUndefined();
  });
});
