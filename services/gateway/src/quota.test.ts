import { describe, expect, it } from "@jest/globals";
import { defaultPlan, fault, limitOf, type Plan, tenantId } from "@posthaste/domain";
import { type Tenant } from "@posthaste/ports";
import { spendQuota } from "./quota.ts";

const aTenantWith = (limits: Partial<Plan>): Tenant => ({
  id: tenantId("a"),
  plan: { ...defaultPlan, ...limits },
  dialect: "service",
  keys: { current: "", next: "" },
});

/** `tooMany`: the queues beyond the plan's number. */
function opened({ isClosed = false, left = Infinity, tooMany = [] as readonly string[] } = {}) {
  const done: unknown[] = [];
  const add: number[] = [];
  const exceeded = fault("too_many_requests", "quota maxMessagesPerDay exceeded");
  const parts = {
    rates: {
      spendMessages: ({ plan }: Tenant, count: () => number | Promise<number>) => {
        if (limitOf(plan, "messagesPerDayMax") === undefined) return undefined;
        return Promise.resolve(count()).then((n) => {
          if (n > left) return exceeded;
          done.push(["spent", n]);
          return async () => void done.push(["given back", n]);
        });
      },
    },
    intake: { isClosed },
    backlog: { add: (_: Tenant, n: number) => void add.push(n) },
    queues: {
      make: async (_: unknown, names: readonly string[]) => {
        if (tooMany.length === 0) done.push(["made", ...names]);
        return tooMany;
      },
    },
  };
  return { add, done, exceeded, parts };
}

describe("the quota of publishes", () => {
  it("is granted at once if the plan counts no messages and no queue is named", () => {
    const { add, done, parts } = opened();

    expect(spendQuota(parts, aTenantWith({}), { messages: 3, queues: [] })).toBeUndefined();
    expect(done).toEqual([]);
    // Beside the one that the backlog has counted already.
    expect(add).toEqual([2]);
  });

  it("is refused by a process that stops, and takes nothing", async () => {
    const { add, done, parts } = opened({ isClosed: true });

    expect(
      await spendQuota(parts, aTenantWith({ messagesPerDayMax: 9 }), {
        messages: 3,
        queues: ["a"],
      }),
    ).toMatchObject({ refused: { fault: "overloaded" } });
    expect({ add, done }).toEqual({ add: [], done: [] });
  });

  it("is taken of both", async () => {
    const { done, parts } = opened();
    const need = { messages: 3, queues: ["a", "b"] };

    expect(await spendQuota(parts, aTenantWith({ messagesPerDayMax: 9 }), need)).toBeUndefined();
    expect(done).toEqual([
      ["spent", 3],
      ["made", "a", "b"],
    ]);
  });

  it("among the messages of the day is refused before a queue is made", async () => {
    const { done, exceeded, parts } = opened({ left: 2 });
    const need = { messages: 3, queues: ["a"] };

    expect(await spendQuota(parts, aTenantWith({ messagesPerDayMax: 9 }), need)).toEqual({
      refused: exceeded,
    });
    expect(done).toEqual([]);
  });

  it("among the queues is refused, and no message is spent", async () => {
    const { done, parts } = opened({ tooMany: ["b"] });
    const need = { messages: 3, queues: ["a", "b"] };

    expect(await spendQuota(parts, aTenantWith({ messagesPerDayMax: 9 }), need)).toMatchObject({
      refused: { fault: "beyond_plan" },
      queue: "b",
    });
    expect(done).toEqual([
      ["spent", 3],
      ["given back", 3],
    ]);
  });
});
