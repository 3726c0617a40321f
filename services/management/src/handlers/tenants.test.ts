import { describe, expect, it } from "@jest/globals";
import { allShards, defaultPlan, limits, tenantId } from "@posthaste/domain";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { createReads } from "../reads.ts";
import { openStore } from "../opened.fixture.ts";
import { tenantHandlers } from "./tenants.ts";

const me = tenantId("me");
const asked = { param: () => me, query: undefined, body: undefined };

async function opened() {
  const store = openStore();
  const keys = { current: "sig_1", next: "sig_2" };
  await store.accounts.addTenant({ id: me, dialect: "service", plan: defaultPlan, keys });
  const rest = { clock: virtualClock(), random: seededRandom(1), log: recordingLog() };
  return { ...store, ...rest, reads: createReads(store) };
}

describe("a tenant that is closed", () => {
  it("has its runs cancelled half a minute later", async () => {
    const ports = await opened();

    expect(await tenantHandlers(ports).closeTenant(asked)).toEqual({ status: 200 });

    expect((await ports.accounts.tenant(me))?.closedAt).toBe(ports.clock.now());
    expect(await ports.bulkActions.list(me, { limit: 10 })).toMatchObject([
      { work: { kind: "cancelRuns" }, wakeAt: ports.clock.now() + limits.ringAheadMs },
    ]);
  });

  it("has the end of its runs stored before its account is closed", async () => {
    const ports = await opened();
    const killed = async (): Promise<never> => {
      throw new Error("killed");
    };
    const handlers = tenantHandlers({
      ...ports,
      accounts: { ...ports.accounts, changeTenant: killed },
    });

    await expect(handlers.closeTenant(asked)).rejects.toThrow("killed");

    expect(await ports.alarms.next(allShards, ["bulkAction"])).toBeDefined();
  });

  it("is answered as missing if it does not exist, and nothing is begun", async () => {
    const ports = await opened();
    const closed = await tenantHandlers(ports).closeTenant({ ...asked, param: () => "other" });

    expect(closed).toMatchObject({ fault: "not_found" });
    expect(await ports.alarms.next(allShards, ["bulkAction"])).toBeUndefined();
  });
});
