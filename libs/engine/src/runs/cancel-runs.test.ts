import { describe, expect, it } from "@jest/globals";
import { type ActiveRunFilter, allShards, isFault, limits, runId } from "@posthaste/domain";
import { aPolicy, aStartCommand, aTenant, anotherTenant } from "@posthaste/testing";
import {
  beginBulkAction,
  cancelRunsSoon,
  continueBulkActions,
  workBulkAction,
} from "../bulk/bulk-actions.ts";
import { open, type Ports } from "../opened.fixture.ts";
import { finishRun } from "./end.ts";
import { startRun } from "./start.ts";

type Settings = {
  readonly url?: string;
  readonly labels?: readonly string[];
  readonly tenant?: typeof aTenant;
};

async function start(
  ports: Ports,
  id: string,
  { url = "https://endpoint.example/a", labels = [], tenant = aTenant }: Settings = {},
): Promise<void> {
  const run = { kind: "start", id: runId(id), features: [], headers: [] } as const;
  const destination = { kind: "url", url } as const;
  const policy = aPolicy({ labels });
  const started = await startRun(ports, aStartCommand({ run, destination, policy, tenant }));
  if (isFault(started)) throw new Error(started.text);
}

async function active(ports: Ports, tenant = aTenant): Promise<readonly string[]> {
  const page = await ports.runLog.list(tenant, { states: ["active"] }, { limit: 1_000 });
  return page.items.map(({ id }) => id).toSorted();
}

async function cancel(ports: Ports, filter: ActiveRunFilter) {
  const work = { kind: "cancelRuns", filter } as const;
  const how = { isWorkedHere: true, total: 0 };
  const begun = await beginBulkAction(ports, aTenant, work, how);
  if (isFault(begun)) throw new Error(begun.text);
  return begun.action;
}

async function ring(ports: Ports): Promise<void> {
  const { rung } = await ports.alarms.ring(allShards, 10, ["bulkAction"]);
  const actions = rung.flatMap((each) => (each.kind === "bulkAction" ? each.action : []));
  await continueBulkActions(ports, actions);
}

describe("cancelling runs in bulk", () => {
  it.each<[string, ActiveRunFilter, readonly string[]]>([
    ["a label", { labels: ["x"] }, ["other", "theirs"]],
    [
      "the beginning of a URL",
      { urlPrefixes: ["https://endpoint.example/b"] },
      ["labelled", "theirs"],
    ],
    ["nothing, which is all of the tenant", {}, ["theirs"]],
    ["a time that was before", { to: 0 }, ["labelled", "other", "theirs"]],
  ])("by %s ends only active runs", async (_, filter, left) => {
    const ports = open();
    await start(ports, "labelled", { labels: ["x"] });
    await start(ports, "ended", { labels: ["x"], url: "https://endpoint.example/b" });
    await finishRun(ports, { tenant: aTenant, id: runId("ended") }, new Uint8Array(0));
    await start(ports, "other", { url: "https://endpoint.example/b/c" });
    await start(ports, "theirs", { labels: ["x"], tenant: anotherTenant });

    const done = await workBulkAction(ports, await cancel(ports, filter), Infinity);

    expect([...(await active(ports)), ...(await active(ports, anotherTenant))]).toEqual(left);
    expect(done).toMatchObject({ processed: 3 - left.length, completedAt: ports.clock.now() });
  });

  it("continues after a step, and counts each run once", async () => {
    const ports = open();
    for (let n = 0; n < 230; n++) await start(ports, `run${n}`);

    const done = await workBulkAction(ports, await cancel(ports, {}), Infinity);

    expect(done).toMatchObject({ processed: 230, version: 4 });
    expect(await active(ports)).toEqual([]);
  });

  it("touches no run that was started after it was accepted", async () => {
    const ports = open();
    await start(ports, "before");
    const action = await cancel(ports, {});
    await start(ports, "in the same moment");
    await ports.clock.advance(1);
    await start(ports, "later");

    await workBulkAction(ports, action, Infinity);

    expect(await active(ports)).toEqual(["in the same moment", "later"]);
  });
});

describe("a tenant that is closed", () => {
  it("has its runs cancelled half a minute later, also runs started meanwhile", async () => {
    const ports = open();
    await start(ports, "before");
    await cancelRunsSoon(ports, aTenant);
    await ports.clock.advance(limits.ringAheadMs - 1);
    await start(ports, "meanwhile");
    await ring(ports);
    expect(await active(ports)).toEqual(["before", "meanwhile"]);

    await ports.clock.advance(1);
    await ring(ports);

    expect(await active(ports)).toEqual([]);
  });

  it("has its runs cancelled once, however often it is closed, beside other cancels", async () => {
    const ports = open();
    await cancel(ports, {});
    await cancelRunsSoon(ports, aTenant);
    await cancelRunsSoon(ports, aTenant);

    const actions = await ports.bulkActions.list(aTenant, { limit: 10 });

    expect(actions.map(({ work }) => work)).toEqual([
      { kind: "cancelRuns", filter: {}, isOpenEnded: true },
      { kind: "cancelRuns", filter: {} },
    ]);
  });

  it("has its runs cancelled, however many bulk actions are running", async () => {
    const ports = open();
    const asked: number[] = [];
    const add: typeof ports.bulkActions.add = (action, underWayMax) => {
      asked.push(underWayMax);
      return ports.bulkActions.add(action, underWayMax);
    };

    await cancelRunsSoon({ ...ports, bulkActions: { ...ports.bulkActions, add } }, aTenant);

    expect(asked).toEqual([limits.bulkActionsMax + 1]);
  });
});
