import { describe, expect, it } from "@jest/globals";
import {
  accept,
  allShards,
  type AttemptFact,
  defaultPlan,
  type Message,
  owner,
  type Plan,
  redactedConfiguration,
  runId,
  runKey,
  settleAttempt,
  type TenantId,
} from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type Accounts, type MessageLog, StoreError, type Tenant } from "@posthaste/ports";
import {
  aMessage,
  anAnswer,
  anAttempt,
  anotherTenant,
  aPolicy,
  aTenant,
  type MessageOverrides,
  type RecordingLog,
  type VirtualClock,
  sha256,
} from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { WorkflowLog, type WorkflowLogPorts } from "./workflow-log.ts";

type Ports = WorkflowLogPorts & {
  readonly clock: VirtualClock;
  readonly log: RecordingLog;
  readonly embedded: ReturnType<typeof openEmbedded>;
};

function open(): Ports {
  const { clock, log, store: embedded } = openInMemory(openEmbedded);
  const { bus, deadLetters, keptBodies, messageLog, runs, runLog } = embedded;
  const accounts = accountsOf(tenantWith(defaultPlan));
  const stored = { deadLetters, keptBodies, messageLog, runs, runLog };
  return { ...stored, accounts, bus, clock, embedded, log };
}

const accountsOf = (...tenants: Tenant[]): Pick<Accounts, "tenantPage"> => ({
  tenantPage: async ({ after }) => (after === "" ? tenants : []),
});

const tenantWith = (plan: Plan, id = aTenant): Tenant => ({
  id,
  dialect: "service",
  plan,
  keys: { current: "current", next: "next" },
});

/** Returns a message that another store has accepted, and that this one has never seen. */
const aMessageElsewhere = ({ clock, embedded }: Ports, overrides: MessageOverrides = {}): Message =>
  aMessage({ id: embedded.ids.next(), now: clock.now(), ...overrides });

const deliveredFact = (message: Message, at: number): AttemptFact => ({
  kind: "fact",
  id: message.id,
  attempt: 0,
  startedAt: at,
  endedAt: at,
  ended: "delivered",
});

const accepted = ({ bus }: Ports, message: Message): Promise<void> =>
  bus.publish("message.accepted", [{ message: redactedConfiguration(message, sha256) }]);

const settled = ({ bus, clock }: Ports, message: Message): Promise<void> =>
  bus.publish("message.settled", [
    {
      id: message.id,
      message: redactedConfiguration(message, sha256),
      fact: deliveredFact(message, clock.now()),
    },
  ]);

async function logged({ messageLog }: Pick<Ports, "messageLog">): Promise<readonly string[]> {
  const { items } = await messageLog.list(aTenant, {}, { limit: 100, order: "earliestFirst" });
  return items.map(({ event }) => event.state);
}

async function fail({ clock, embedded }: Ports, overrides: MessageOverrides = {}): Promise<void> {
  const { ids, records } = embedded;
  const policy = aPolicy({ retriesMax: 0 });
  const message = aMessage({ id: ids.next(), now: clock.now(), policy, ...overrides });
  await records.insert([{ record: accept(message, clock.now()) }], "new");
  const [record] = await records.claim([message.id], owner("test"));
  if (!record) throw new Error("the message could not be claimed");
  const attempt = anAttempt(anAnswer(500), { endedAt: clock.now(), tookMs: 0 });
  await records.settle([settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined })]);
}

async function deliver(
  { clock, embedded }: Ports,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const { ids, records } = embedded;
  const message = aMessage({ id: ids.next(), now: clock.now(), ...overrides });
  await records.insert([{ record: accept(message, clock.now()) }], "new");
  const claimed = await records.claim([message.id], owner("test"));
  const attempt = anAttempt(anAnswer(200), { endedAt: clock.now(), tookMs: 0 });
  const inputs = { chance: 0, retryDelayMs: undefined };
  await records.settle(claimed.map((record) => settleAttempt(record, attempt, inputs)));
  return message;
}

const areKept = ({ keptBodies }: Ports, ...messages: Message[]): Promise<readonly boolean[]> =>
  Promise.all(
    messages.map(async ({ id, tenant }) => (await keptBodies.get(tenant, id)) !== undefined),
  );

async function start(
  ports: Ports,
  writtenBy: MessageLog["writtenBy"] = "facts",
): Promise<WorkflowLog> {
  const workflowLog = new WorkflowLog(
    { ...ports, messageLog: { ...ports.messageLog, writtenBy } },
    { diskShareMax: 0.8 },
  );
  await workflowLog.start();
  return workflowLog;
}

const minuteMs = 60_000;

describe("the workflow-log", () => {
  it("writes the events that it receives if the store does not", async () => {
    const ports = open();
    const workflowLog = await start(ports);
    const message = aMessageElsewhere(ports);

    await accepted(ports, message);
    await settled(ports, message);

    expect(await logged(ports)).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    await workflowLog.stop();
  });

  it("writes attempts of a run's delivery into the log of runs, and into no other", async () => {
    const ports = open();
    const workflowLog = await start(ports);
    const root = ports.embedded.ids.next();
    const run = { key: runKey(aTenant, runId("run"), 1), id: runId("run"), root, part: "s1" };
    const message = aMessageElsewhere(ports, { run: { ...run, createdAt: 0, bytes: 0 } });

    await settled(ports, message);

    const fact = deliveredFact(message, ports.clock.now());
    expect(await ports.runLog.attempts(run)).toEqual([{ part: "s1", fact }]);
    expect(await logged(ports)).toEqual([]);
    await workflowLog.stop();
  });

  it("writes the whole history from the settled fact alone, and once however often the fact arrives", async () => {
    const ports = open();
    const workflowLog = await start(ports);
    const message = aMessageElsewhere(ports);

    await settled(ports, message);
    await settled(ports, message);
    await accepted(ports, message);

    expect(await logged(ports)).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    await workflowLog.stop();
  });

  it("counts a fact as handled only when it is written", async () => {
    const opened = open();
    let refusals = 1;
    const append: MessageLog["append"] = async (entries) => {
      if (refusals-- > 0) throw new StoreError("unavailable", "the log is away");
      return opened.messageLog.append(entries);
    };
    const ports = { ...opened, messageLog: { ...opened.messageLog, append } };
    const workflowLog = await start(ports);
    const message = aMessageElsewhere(ports);
    let isHeard = false;

    const publishing = settled(ports, message).then(() => (isHeard = true));
    await ports.clock.advance(0);
    expect(isHeard).toBe(false);
    await ports.clock.advance(1_000);
    await publishing;

    expect(await logged(ports)).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
    await workflowLog.stop();
  });

  it("leaves the writing to a store that writes the log itself", async () => {
    const ports = open();
    const workflowLog = await start(ports, "settle");

    await settled(ports, aMessageElsewhere(ports));

    expect(await logged(ports)).toEqual([]);
    await workflowLog.stop();
  });

  it("removes events and dead letters a minute after their retention at the latest, and no younger ones", async () => {
    const ports = open();
    await fail(ports);
    await ports.clock.advance(minuteMs);
    await fail(ports);
    const page = { limit: 100, order: "earliestFirst" } as const;
    const counts = async () => ({
      events: (await logged(ports)).length,
      letters: (await ports.deadLetters.list(aTenant, {}, page)).items.length,
    });

    await ports.clock.advance(defaultPlan.logMs - 2 * minuteMs);
    const workflowLog = await start(ports, "settle");
    await ports.clock.advance(minuteMs);
    expect(await counts()).toEqual({ events: 8, letters: 2 });
    await ports.clock.advance(minuteMs);
    expect(await counts()).toEqual({ events: 4, letters: 1 });
    await ports.clock.advance(minuteMs);

    expect(await counts()).toEqual({ events: 0, letters: 0 });
    await workflowLog.stop();
  });

  it("removes a tenant's rows by that tenant's retention, also when the tenant is closed", async () => {
    const opened = open();
    const briefly = { ...defaultPlan, logMs: 2 * minuteMs, deadLetterMs: 4 * minuteMs };
    const closed = { ...tenantWith(briefly), closedAt: opened.clock.now() };
    const accounts = accountsOf(closed, tenantWith(defaultPlan, anotherTenant));
    const ports = { ...opened, accounts };
    await fail(ports);
    await fail(ports, { tenant: anotherTenant });
    const page = { limit: 100, order: "earliestFirst" } as const;
    const countsOf = async (tenant: TenantId) => [
      (await ports.messageLog.list(tenant, {}, page)).items.length,
      (await ports.deadLetters.list(tenant, {}, page)).items.length,
    ];
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(3 * minuteMs);
    expect([await countsOf(aTenant), await countsOf(anotherTenant)]).toEqual([
      [0, 1],
      [4, 1],
    ]);
    await ports.clock.advance(2 * minuteMs);

    expect([await countsOf(aTenant), await countsOf(anotherTenant)]).toEqual([
      [0, 0],
      [4, 1],
    ]);
    await workflowLog.stop();
  });

  it("removes kept bodies a minute after the time of their tenant's plan, and none while it is not over", async () => {
    const opened = open();
    const hour = { ...defaultPlan, keepBodiesMs: 60 * minuteMs };
    const accounts = accountsOf(tenantWith(hour), tenantWith(defaultPlan, anotherTenant));
    const ports = { ...opened, accounts };
    const own = await deliver(ports);
    const other = await deliver(ports, { tenant: anotherTenant });
    await ports.embedded.records.removeFinished(allShards, ports.clock.now() + 1, 10);
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(60 * minuteMs);
    expect(await areKept(ports, own, other)).toEqual([true, true]);
    await ports.clock.advance(minuteMs);
    expect(await areKept(ports, own, other)).toEqual([false, true]);

    await workflowLog.stop();
  });

  it("keeps bodies for less and less long while the disk is too full, the youngest longest", async () => {
    const opened = open();
    let share = 0.79;
    const keptBodies = { ...opened.keptBodies, diskShare: async () => share };
    const ports = { ...opened, keptBodies };
    const old = await deliver(ports);
    await ports.clock.advance(13 * 60 * minuteMs);
    const young = await deliver(ports);
    await ports.embedded.records.removeFinished(allShards, ports.clock.now() + 1, 10);
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(minuteMs);
    expect(await areKept(ports, old, young)).toEqual([true, true]);
    share = 0.81;
    await ports.clock.advance(minuteMs);
    expect(await areKept(ports, old, young)).toEqual([false, true]);
    await ports.clock.advance(11 * minuteMs);
    expect(await areKept(ports, old, young)).toEqual([false, false]);

    await workflowLog.stop();
  });

  it("sweeps old rows if the store does not report how full its disk is", async () => {
    const opened = open();
    const diskShare = () => Promise.reject(new StoreError("unavailable", "dbStats is refused"));
    const ports = { ...opened, keptBodies: { ...opened.keptBodies, diskShare } };
    const message = await deliver(ports);
    await ports.embedded.records.removeFinished(allShards, ports.clock.now() + 1, 10);
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(24 * 60 * minuteMs + minuteMs);

    expect(await areKept(ports, message)).toEqual([false]);
    await workflowLog.stop();
  });

  it("sweeps again after a sweep has failed, and runs one sweep at a time", async () => {
    const opened = open();
    let sweeps = 0;
    const sweep: MessageLog["sweep"] = async () => {
      sweeps += 1;
      if (sweeps === 1) throw new StoreError("unavailable", "the log is away");
      await new Promise<void>((resolve) => opened.clock.after(10 * minuteMs, resolve));
      return 0;
    };
    const ports = { ...opened, messageLog: { ...opened.messageLog, sweep } };
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(minuteMs);
    expect(ports.log.events()).toContain("retention.failed");
    await ports.clock.advance(9 * minuteMs);

    expect(sweeps).toBe(2);
    let stopped = false;
    const stopping = workflowLog.stop().then(() => (stopped = true));
    await ports.clock.advance(minuteMs);
    expect(stopped).toBe(false);
    await ports.clock.advance(10 * minuteMs);
    await stopping;
    expect(ports.clock.armed).toBe(0);
  });

  it("continues without a pause while a sweep is full", async () => {
    const opened = open();
    const found = [5_000, 5_000, 17];
    const sweep: MessageLog["sweep"] = async () => found.shift() ?? 0;
    const ports = { ...opened, messageLog: { ...opened.messageLog, sweep } };
    const workflowLog = await start(ports, "settle");

    await ports.clock.advance(minuteMs);

    expect(found).toEqual([]);
    await workflowLog.stop();
  });

  it("receives nothing and has no timer once it has stopped", async () => {
    const ports = open();
    const workflowLog = await start(ports);

    await workflowLog.stop();
    await settled(ports, aMessageElsewhere(ports));

    expect(await logged(ports)).toEqual([]);
    expect(ports.clock.armed).toBe(0);
  });
});
