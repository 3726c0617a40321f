import { describe, expect, it } from "@jest/globals";
import { type Kind, placesOf, resolveId } from "./resolve-id.ts";

const kinds: readonly Kind[] = ["message", "run", "letter", "schedule", "bulk action"];

/** Finds the kinds in `found`, and records the questions. */
function asking(found: readonly Kind[]) {
  const asked: Kind[] = [];
  const look = async (kind: Kind) => {
    asked.push(kind);
    return found.includes(kind) ? `/${kind}` : undefined;
  };
  return { asked, look };
}

describe("an id is looked for", () => {
  it("as a message, a run, a letter, a schedule and a bulk action, until it is found", async () => {
    const { asked, look } = asking(["schedule", "bulk action"]);

    expect(await resolveId("daily", look)).toEqual({ kind: "schedule", to: "/schedule" });
    expect(asked).toEqual(["message", "run", "letter", "schedule"]);
  });

  it("first as the kind that its form suggests", () => {
    const forms = {
      msg_1: "message",
      wfr_1: "run",
      "1795574895646-0h": "letter",
      scd_1: "schedule",
      bulk_1: "bulk action",
    };

    for (const [id, kind] of Object.entries(forms)) {
      expect(placesOf(id)[0]).toBe(kind);
      expect(placesOf(id)).toHaveLength(kinds.length);
    }
  });

  it("as every kind: a run may have the id of anything else", async () => {
    const { look } = asking(["run"]);

    expect(await resolveId("msg_of-a-caller", look)).toEqual({ kind: "run", to: "/run" });
    expect(await resolveId("scd_1", asking([]).look)).toBeUndefined();
  });
});
