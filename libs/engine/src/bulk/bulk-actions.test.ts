import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  type BulkAction,
  isFault,
  isUnderWay,
  limits,
  type TenantId,
} from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { anotherTenant, aPolicy, aTenant } from "@posthaste/testing";
import {
  beginBulkAction,
  type BulkPorts,
  continueBulkActions,
  workBulkAction,
} from "./bulk-actions.ts";
import { insert, listen, open, type Ports, readIn, rest } from "../opened.fixture.ts";

const labelled = { policy: aPolicy({ labels: ["a"] }), delayMs: 600_000 };
const work = { kind: "cancel", filter: { labels: ["a"] } } as const;

async function begun(ports: BulkPorts, isWorkedHere = true): Promise<BulkAction> {
  const found = await beginBulkAction(ports, aTenant, work, { isWorkedHere, total: 0 });
  if (isFault(found)) throw new Error(found.text);
  return found.action;
}

const stored = async ({ bulkActions }: Ports, { id }: BulkAction): Promise<BulkAction> => {
  const found = await bulkActions.get(aTenant, id);
  if (!found) throw new Error("it is gone");
  return found;
};

/** Returns ports over which steps can look `steps` times and fail after that. */
function dyingAfter(ports: Ports, steps: number): Ports {
  let left = steps;
  const matching: Records["matching"] = async (...given) => {
    if (left-- === 0) throw new Error("the process has ended");
    return ports.records.matching(...given);
  };
  return { ...ports, records: { ...ports.records, matching } };
}

const insertMany = async (ports: Ports, count: number) => {
  for (let n = 0; n < count; n++) await insert(ports, labelled);
};

describe("a bulk action", () => {
  it("cancels all that matches, and has ended then", async () => {
    const ports = open();
    const message = await insert(ports, labelled);
    const other = await insert(ports, { delayMs: 600_000 });

    const action = await workBulkAction(ports, await begun(ports), Infinity);

    expect(action).toMatchObject({ processed: 1, total: 1, completedAt: ports.clock.now() });
    expect(await stored(ports, action)).toEqual(action);
    await readIn(ports, message, "canceled");
    await readIn(ports, other, "held");
  });

  it("touches nothing that was made after it was accepted, however late its worker comes", async () => {
    const ports = open();
    const before = await insert(ports, labelled);
    const action = await begun(ports, false);
    await ports.clock.advance(1);
    const after = await insert(ports, labelled);

    await continueBulkActions(ports, [action]);

    await readIn(ports, before, "canceled");
    await readIn(ports, after, "held");
  });

  it("continues where its worker has ended, with an exact count", async () => {
    const ports = open();
    await insertMany(ports, 1_001);
    const action = await begun(ports);

    await expect(workBulkAction(dyingAfter(ports, 1), action, Infinity)).rejects.toThrow();
    const cut = await stored(ports, action);
    expect(cut).toMatchObject({ processed: 500, place: { in: "messages" } });
    await ports.clock.advance(limits.ringAheadMs);
    const { rung } = await ports.alarms.ring(allShards, 10, ["bulkAction"]);
    expect(rung).toMatchObject([{ kind: "bulkAction", action: { id: action.id } }]);
    await continueBulkActions(ports, [cut]);

    expect(await stored(ports, action)).toMatchObject({ processed: 1_001, total: 1_001 });
    expect(isUnderWay(await stored(ports, action))).toBe(false);
  });

  it("reads the next step while it cancels one, and cancels one at a time", async () => {
    const ports = open();
    await insertMany(ports, 1_001);
    const seen: string[] = [];
    const matching: Records["matching"] = (...given) => {
      seen.push("reads");
      return ports.records.matching(...given);
    };
    const cancel: Records["cancel"] = async (...given) => {
      seen.push("begins");
      await ports.clock.advance(10);
      const answers = await ports.records.cancel(...given);
      seen.push("ends");
      return answers;
    };

    const records = { ...ports.records, matching, cancel };
    await workBulkAction({ ...ports, records }, await begun(ports), Infinity);

    const step = ["begins", "ends"];
    expect(seen).toEqual(["reads", "reads", ...step, "reads", ...step, ...step]);
  });

  it("announces the effects of a step while it cancels the next, at most one step late", async () => {
    const ports = open();
    const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
    for (let n = 0; n < 1_501; n++) await insert(ports, { ...labelled, flow });
    const hang = (): Promise<never> => new Promise(() => undefined);
    const tokens = { ...ports.tokens, release: hang };
    const action = await begun(ports);

    const working = workBulkAction({ ...ports, tokens }, action, Infinity);
    const processed: number[] = [];
    for (let n = 0; n < 3; n++) {
      await rest(ports);
      processed.push((await stored(ports, action)).processed);
      await ports.clock.advance(2_000);
    }

    expect(processed).toEqual([500, 1_500, 1_501]);
    expect(await working).toMatchObject({ processed: 1_501 });
  });

  it("that a worker leaves in its time rings at once", async () => {
    const ports = open();
    await insertMany(ports, 600);
    const action = await begun(ports, false);
    const { clock } = ports;
    // Each step takes longer than a turn.
    const slow: Records["matching"] = async (...given) => {
      await clock.advance(6_000);
      return ports.records.matching(...given);
    };

    await continueBulkActions({ ...ports, records: { ...ports.records, matching: slow } }, [
      action,
    ]);

    expect(await stored(ports, action)).toMatchObject({ processed: 500, wakeAt: clock.now() });
  });

  it("of one tenant has its turn beside those of another, however many these are", async () => {
    const ports = open();
    const { clock } = ports;
    const begin = async (tenant: TenantId, label: string): Promise<BulkAction> => {
      await insert(ports, { ...labelled, tenant, policy: aPolicy({ labels: [label] }) });
      const filter = { labels: [label] };
      const begun = { isWorkedHere: false, total: 0 };
      const found = await beginBulkAction(ports, tenant, { kind: "cancel", filter }, begun);
      if (isFault(found)) throw new Error(found.text);
      return found.action;
    };
    const many: BulkAction[] = [];
    for (let n = 0; n < 20; n++) many.push(await begin(aTenant, `${n}`));
    const other = await begin(anotherTenant, "other");
    const looks: TenantId[] = [];
    // Each step takes longer than a turn, so one turn does not run them all.
    const slow: Records["matching"] = async (tenant, ...given) => {
      looks.push(tenant);
      await clock.advance(6_000);
      return ports.records.matching(tenant, ...given);
    };
    const records = { ...ports.records, matching: slow };

    await continueBulkActions({ ...ports, records }, [...many, other]);

    expect(looks.slice(0, 2)).toEqual([aTenant, anotherTenant]);
    expect(looks.length).toBeLessThan(many.length);
  });

  it("is left to the other one by a worker that comes second", async () => {
    const ports = open();
    await insertMany(ports, 600);
    const action = await begun(ports);
    const done = await workBulkAction(ports, action, Infinity);

    let cancels = 0;
    const cancel: Records["cancel"] = (...given) => {
      cancels++;
      return ports.records.cancel(...given);
    };
    const watched = { ...ports, records: { ...ports.records, cancel } };
    const second = await workBulkAction(watched, action, Infinity);

    expect({ processed: second.processed, cancels }).toEqual({ processed: 0, cancels: 0 });
    expect(await stored(ports, action)).toEqual(done);
  });

  it("that is equal to a running one is that one", async () => {
    const ports = open();
    const first = await begun(ports);
    await ports.clock.advance(1_000);

    expect(await beginBulkAction(ports, aTenant, work, { isWorkedHere: true, total: 5 })).toEqual({
      action: first,
      isNew: false,
    });
    await workBulkAction(ports, first, Infinity);
    expect((await begun(ports)).id).not.toBe(first.id);
  });

  it("wakes a scheduler if its gateway does not work on it", async () => {
    const ports = open();
    const { wakes } = await listen(ports);

    const here = await begun(ports);
    await workBulkAction(ports, here, Infinity);
    expect(wakes).toEqual([]);
    const elsewhere = await begun(ports, false);

    expect(here.wakeAt).toBe(here.createdAt + limits.ringAheadMs);
    expect(wakes).toEqual([
      { shard: elsewhere.shard, at: elsewhere.createdAt, source: "bulkAction" },
    ]);
  });

  it("is refused beyond a thousand running ones", async () => {
    const ports = open();
    const full = { ...ports.bulkActions, add: async () => "full" as const };

    const refused = await beginBulkAction({ ...ports, bulkActions: full }, aTenant, work, {
      isWorkedHere: true,
      total: 0,
    });

    expect(refused).toMatchObject({ text: "quota maxBulkActions exceeded, current limit: 1000" });
  });
});
