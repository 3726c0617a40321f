/** The contract of `BulkActions`: of several workers one succeeds; an action under way rings, in its shard, until it ends. */
import { expect } from "@jest/globals";
import {
  advanced,
  allShards,
  type BulkAction,
  bulkActionId,
  deferredAction,
  type LiveFilter,
  limits,
  messageId,
  newBulkAction,
  ownFormat,
  type TenantId,
} from "@posthaste/domain";
import { type Alarms, type BulkActions } from "@posthaste/ports";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { type Closable, contract, type Guarantee } from "./guarantee.ts";
import { bytesOfThree } from "./paging.ts";

export type BulkActionsHarness = Closable & {
  readonly bulkActions: BulkActions;
  readonly alarms: Alarms;
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export function describeBulkActions(name: string, open: () => Promise<BulkActionsHarness>): void {
  contract(`${name}: bulk actions`, open, {}, (it) => {
    keeping(it);
    working(it);
    ringing(it);
  });
}

const many = 1_000;
const somewhere = { in: "messages", after: "here" } as const;

function anAction(
  id: string,
  at: number,
  filter: LiveFilter = { labels: [id] },
  tenant: TenantId = aTenant,
): BulkAction {
  const made = { id: bulkActionId(id), tenant, work: { kind: "cancel", filter } } as const;
  const upTo = { id: messageId("msg_1"), at };
  return newBulkAction({ ...made, upTo, total: 0, createdAt: at }, at);
}

function keeping(it: Guarantee<BulkActionsHarness>): void {
  it("a bulk action that was never made is not found", async ({ bulkActions }) => {
    expect(await bulkActions.get(aTenant, bulkActionId("bulk_1"))).toBeUndefined();
    expect(await bulkActions.list(aTenant, { limit: 10 })).toEqual([]);
  });

  it("a bulk action is read as it was made, by its tenant alone", async ({ bulkActions, now }) => {
    const filter = { labels: ["a,b", ""], urls: ["https://a.example/x?y"], from: 1, to: 2 };
    const made = anAction("bulk_1", now(), filter);

    expect(await bulkActions.add(made, many)).toEqual(made);
    expect(await bulkActions.get(aTenant, made.id)).toEqual(made);
    expect(await bulkActions.get(anotherTenant, made.id)).toBeUndefined();
    expect(await bulkActions.list(anotherTenant, { limit: 10 })).toEqual([]);
  });

  it("a page ends with the action that fills its bytes, and the next page follows it", async ({
    bulkActions,
    now,
  }) => {
    const labels = Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(120, "x"));
    for (let n = 0; n < 7; n++)
      await bulkActions.add(anAction(`bulk_${n}`, now() + n, { labels, from: n }), many);
    const lengths: number[] = [];
    const ids: string[] = [];
    const asked = { limit: 100, bytesMax: bytesOfThree };
    let page = await bulkActions.list(aTenant, asked);
    while (page.length > 0) {
      lengths.push(page.length);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      page = last ? await bulkActions.list(aTenant, { ...asked, after: last }) : [];
    }

    expect(lengths).toEqual([3, 3, 1]);
    expect(ids).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `bulk_${n}`));
  });

  it("bulk actions are listed latest first, page by page, each once", async ({
    bulkActions,
    now,
  }) => {
    const at = now();
    const made = [3, 1, 2, 0, 4].map((n) => anAction(`bulk_${n}`, at + Math.floor(n / 2)));
    for (const each of made) await bulkActions.add(each, many);
    const listed: BulkAction[] = [];
    for (let page = await bulkActions.list(aTenant, { limit: 2 }); page.length > 0;) {
      listed.push(...page);
      const last = page.at(-1);
      page = last ? await bulkActions.list(aTenant, { after: last, limit: 2 }) : [];
    }

    expect(listed).toEqual(made.toSorted((a, b) => (a.id < b.id ? 1 : -1)));
  });

  it("an action equal to a running one of the same tenant is that one", async ({
    bulkActions,
    now,
  }) => {
    const first = anAction("bulk_1", now(), { labels: ["a", "b"], from: 5 });
    const equal = anAction("bulk_2", now(), { from: 5, labels: ["b", "a"] });
    const different = anAction("bulk_3", now(), { labels: ["a"], from: 5 });
    const theirs = anAction("bulk_4", now(), { labels: ["a", "b"], from: 5 }, anotherTenant);
    await bulkActions.add(first, many);

    expect(await bulkActions.add(equal, many)).toEqual(first);
    expect(await bulkActions.add(different, many)).toEqual(different);
    expect(await bulkActions.add(theirs, many)).toEqual(theirs);
    expect(await bulkActions.get(aTenant, equal.id)).toBeUndefined();
  });

  it("an ended action counts as equal to none", async ({ bulkActions, now }) => {
    const first = anAction("bulk_1", now(), {});
    await bulkActions.add(first, many);
    await bulkActions.move(advanced(first, 0, undefined, now()));
    const second = anAction("bulk_2", now(), {});

    expect(await bulkActions.add(second, many)).toEqual(second);
  });

  it("a tenant has a bounded number of running actions", async ({ bulkActions, now }) => {
    const [first, second] = ["bulk_1", "bulk_2"].map((id) => anAction(id, now()));
    const third = anAction("bulk_3", now());
    if (!first || !second) throw new Error("there are two");
    await bulkActions.add(first, 2);
    await bulkActions.add(second, 2);

    expect(await bulkActions.add(third, 2)).toBe("full");
    expect(await bulkActions.add(anAction("bulk_4", now(), {}, anotherTenant), 2)).not.toBe("full");
    await bulkActions.move(advanced(first, 1, undefined, now()));
    expect(await bulkActions.add(third, 2)).toEqual(third);
  });

  it("actions that ended long ago are removed, a bounded number at a time", async (harness) => {
    const { bulkActions, now } = harness;
    const ended = ["bulk_1", "bulk_2", "bulk_3"].map((id) => anAction(id, now()));
    const underWay = anAction("bulk_4", now());
    for (const each of [...ended, underWay]) await bulkActions.add(each, many);
    const at = now();
    for (const each of ended) await bulkActions.move(advanced(each, 0, undefined, at));

    await bulkActions.removeEnded(at, 10);
    expect(await bulkActions.list(aTenant, { limit: 10 })).toHaveLength(4);
    await bulkActions.removeEnded(at + 1, 2);
    expect(await bulkActions.list(aTenant, { limit: 10 })).toHaveLength(2);
    await bulkActions.removeEnded(at + 1, 2);
    expect(await bulkActions.list(aTenant, { limit: 10 })).toEqual([underWay]);
  });
}

function working(it: Guarantee<BulkActionsHarness>): void {
  it("of several workers at once one succeeds", async ({ bulkActions, now }) => {
    const made = anAction("bulk_1", now());
    await bulkActions.add(made, many);

    const moved = await Promise.all(
      [1, 2, 3, 4, 5].map((count) => bulkActions.move(advanced(made, count, somewhere, now()))),
    );

    expect(moved.filter(Boolean)).toHaveLength(1);
    const winner = moved.indexOf(true) + 1;
    expect(await bulkActions.get(aTenant, made.id)).toMatchObject({
      version: 2,
      processed: winner,
    });
  });

  it("a step is read back with its place, and the end with its time", async (harness) => {
    const { bulkActions, now } = harness;
    const made = anAction("bulk_1", now());
    await bulkActions.add(made, many);
    const first = advanced(made, 2, somewhere, now());
    expect(await bulkActions.move(first)).toBe(true);
    expect(await bulkActions.get(aTenant, made.id)).toEqual(first);
    const last = advanced(first, 3, undefined, now());
    expect(await bulkActions.move(last)).toBe(true);

    expect(await bulkActions.get(aTenant, made.id)).toEqual(last);
    expect(await bulkActions.move(advanced(made, 9, somewhere, now()))).toBe(false);
  });
}

function ringing(it: Guarantee<BulkActionsHarness>): void {
  const rung = async ({ alarms }: BulkActionsHarness, shards = allShards): Promise<string[]> => {
    const { rung: all } = await alarms.ring(shards, 10, ["bulkAction"]);
    return all.flatMap((each) => (each.kind === "bulkAction" ? each.action.id : [])).toSorted();
  };

  it("an active action rings when it is due, and again after a while", async (harness) => {
    const { alarms, bulkActions, now, advance } = harness;
    const made = anAction("bulk_1", now() + 1_000);
    await bulkActions.add(made, many);

    expect(await rung(harness)).toEqual([]);
    expect(await alarms.next(allShards, ["bulkAction"])).toBe(made.wakeAt);
    await advance(1_000);
    expect(await alarms.next(allShards, ["record"])).toBeUndefined();
    expect(await rung(harness)).toEqual([made.id]);
    expect(await rung(harness)).toEqual([]);
    await advance(limits.ringAheadMs);
    expect(await rung(harness)).toEqual([made.id]);
  });

  it("an active action rings in its own shard alone", async (harness) => {
    const { bulkActions, now } = harness;
    const made = anAction("bulk_1", now());
    await bulkActions.add(made, many);

    expect(
      await rung(
        harness,
        allShards.filter((shard) => shard !== made.shard),
      ),
    ).toEqual([]);
    expect(await rung(harness, [made.shard])).toEqual([made.id]);
  });

  it("a ring does not stop the worker, whose step moves the alarm", async (harness) => {
    const { alarms, bulkActions, now } = harness;
    const made = anAction("bulk_1", now());
    await bulkActions.add(made, many);
    await rung(harness);
    const first = advanced(made, 1, somewhere, now());

    expect(await bulkActions.move(first)).toBe(true);
    expect(await alarms.next(allShards, ["bulkAction"])).toBe(first.wakeAt);
    expect(await bulkActions.move(deferredAction(first, now()))).toBe(true);
    expect(await rung(harness)).toEqual([made.id]);
  });

  it("an ended action does not ring", async (harness) => {
    const { alarms, bulkActions, now, advance } = harness;
    const made = anAction("bulk_1", now());
    await bulkActions.add(made, many);
    await bulkActions.move(advanced(made, 1, undefined, now()));
    await advance(limits.ringAheadMs);

    expect(await rung(harness)).toEqual([]);
    expect(await alarms.next(allShards, ["bulkAction"])).toBeUndefined();
  });

  it("an action above this build's format neither rings nor is returned", async (harness) => {
    const { advance, alarms, bulkActions, now } = harness;
    const made = { ...anAction("bulk_1", now()), format: ownFormat + 1 };
    await bulkActions.add(made, many);
    await advance(limits.ringAheadMs);

    expect(await rung(harness)).toEqual([]);
    expect(await alarms.next(allShards, ["bulkAction"])).toBeUndefined();
    expect(await bulkActions.get(aTenant, made.id)).toBeUndefined();
    expect(await bulkActions.list(aTenant, { limit: 10 })).toEqual([]);
  });
}
