import { describe, expect, it } from "@jest/globals";
import { type LiveFilter } from "../query/filter.ts";
import { bulkActionId, messageId, tenantId } from "../shared/ids.ts";
import {
  advanced,
  bulkBeginning,
  bulkWorkText,
  deferredAction,
  isUnderWay,
  newBulkAction,
} from "./bulk-action.ts";

const made = newBulkAction(
  {
    id: bulkActionId("bulk_1"),
    tenant: tenantId("me"),
    work: { kind: "cancel", filter: { labels: ["a"] } },
    upTo: { id: messageId("msg_9"), at: 100 },
    total: 3,
    createdAt: 100,
  },
  130,
);

describe("a bulk action", () => {
  it("begins with the fan-outs, and has an alarm", () => {
    expect(made).toMatchObject({
      place: bulkBeginning("cancel"),
      processed: 0,
      version: 1,
      wakeAt: 130,
    });
    expect(made.shard).toBeGreaterThanOrEqual(0);
    expect(made.shard).toBeLessThan(64);
  });

  it("on runs begins with the runs", () => {
    const work = { kind: "cancelRuns", filter: {} } as const;

    expect(newBulkAction({ ...made, work }, 130).place).toEqual({ in: "runs" });
  });

  it("counts each step, and has an alarm until the last", () => {
    const first = advanced(made, 2, { in: "messages", after: "x" }, 200);
    const last = advanced(first, 2, undefined, 300);

    expect(first).toMatchObject({
      place: { in: "messages", after: "x" },
      processed: 2,
      total: 3,
      version: 2,
      wakeAt: 30_200,
    });
    expect(last).toMatchObject({ processed: 4, total: 4, version: 3, completedAt: 300 });
    expect(last).not.toHaveProperty("wakeAt");
    expect([made, first, last].map(isUnderWay)).toEqual([true, true, false]);
  });

  it("that is handed on rings at once", () => {
    expect(deferredAction(made, 250)).toEqual({ ...made, version: 2, wakeAt: 250 });
  });
});

describe("the text of a work", () => {
  const text = (filter: LiveFilter): string => bulkWorkText({ kind: "cancel", filter });

  it("is the same for any order of its filter", () => {
    expect(text({ labels: ["a", "b"], from: 1 })).toBe(text({ from: 1, labels: ["b", "a"] }));
  });

  it.each([
    ["another value", { labels: ["a"] }, { labels: ["b"] }],
    ["another filter", { labels: ["a"] }, { hosts: ["a"] }],
    ["one more", { labels: ["a"] }, { labels: ["a"], to: 1 }],
    ["one value or two", { labels: ["a,b"] }, { labels: ["a", "b"] }],
    ["all or some", {}, { labels: [] }],
  ])("differs by %s", (_, one, other) => {
    expect(text(one)).not.toBe(text(other));
  });

  it("differs by the cancelled kind, and by whether it has an end", () => {
    const texts = [
      bulkWorkText({ kind: "cancel", filter: {} }),
      bulkWorkText({ kind: "cancelRuns", filter: {} }),
      bulkWorkText({ kind: "cancelRuns", filter: {}, isOpenEnded: true }),
    ];

    expect(new Set(texts).size).toBe(3);
  });
});
