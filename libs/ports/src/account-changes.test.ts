import { describe, expect, it } from "@jest/globals";
import { type TenantId, tenantId } from "@posthaste/domain";
import { changesOf, followAccounts, noChangedAccounts, withChanged } from "./account-changes.ts";

const changedBy = (...ids: string[]) => ids.map(tenantId).reduce(withChanged, noChangedAccounts);
const many = Array.from({ length: 150 }, (_, n) => `t${n}`);

describe("changed accounts", () => {
  it.each([
    ["nothing yet, to a new reader", [], undefined, "all"],
    ["nothing yet", [], 0, []],
    ["one", ["a"], 0, ["a"]],
    ["nothing since", ["a", "b"], 2, []],
    ["the last of three", ["a", "b", "c"], 2, ["c"]],
    ["one twice", ["a", "b", "a"], 0, ["a", "b"]],
    ["a store that was set back", ["a"], 2, "all"],
    ["as much as is kept", many, 50, many.slice(50)],
    ["one more than is kept", many, 49, "all"],
  ])("%s", (_, ids, since, told) => {
    expect(changesOf(changedBy(...ids), since)).toEqual(told);
  });
});

describe("a follower", () => {
  it("shares a refresh that has not begun, reads one at a time, and repeats a failed read", async () => {
    let changed = changedBy("a");
    let reading = Promise.withResolvers<void>();
    const reads: (readonly TenantId[] | "all")[] = [];
    const follower = followAccounts(
      {
        changedSince: async (mark) => ({
          mark: { version: changed.version },
          tenants: changesOf(changed, mark?.version),
        }),
      },
      (tenants) => {
        reads.push(tenants);
        return reading.promise;
      },
    );
    const first = follower.refresh();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    changed = withChanged(changed, tenantId("b"));
    const [second, third] = [follower.refresh(), follower.refresh()];
    expect(reads).toEqual(["all"]);
    reading.resolve();
    await Promise.all([first, second, third]);
    expect(reads.splice(0)).toEqual(["all", ["b"]]);

    changed = withChanged(changed, tenantId("c"));
    reading = Promise.withResolvers();
    const failing = follower.refresh();
    reading.reject(new Error("no store"));
    await expect(failing).rejects.toThrow("no store");
    reading = Promise.withResolvers();
    reading.resolve();
    await follower.refresh();

    expect(reads).toEqual([["c"], ["c"]]);
  });
});
