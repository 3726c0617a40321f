/** A row for each list of the gateway: pages are bounded whatever callers have stored. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { gatewayEndpoints } from "@posthaste/contract";
import {
  accept,
  bulkActionId,
  dlqIdOf,
  failRun,
  isActive,
  limits,
  messageId,
  newBulkAction,
  runId,
  type Schedule,
} from "@posthaste/domain";
import {
  aMessage,
  anEndpoint,
  anotherTenant,
  aRunStart,
  aSchedule,
  aScheduleCommand,
  aTenant,
  epochStart,
} from "@posthaste/testing";
import { type AuditEntry, headAlone } from "@posthaste/ports";
import { type GatewayPorts } from "./gateway.ts";
import { type Gateway, startGateway } from "./gateway.fixture.ts";

const opened: Gateway[] = [];
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close();
});

async function start(...given: Parameters<typeof startGateway>): Promise<Gateway> {
  const gateway = await startGateway(...given);
  opened.push(gateway);
  return gateway;
}

/** 29 KB. */
const fatHeaders = ["a", "b", "c", "d"].map((name) => [`X-${name}`, "v".repeat(7_250)] as const);
const rows = 150;
const eachRow = Array.from({ length: rows }, (_, n) => n);
const nameOf = (n: number): string => `n${String(n).padStart(3, "0")}`;

async function putSchedules({ schedules }: GatewayPorts, count: number): Promise<void> {
  const { template, ...command } = aScheduleCommand("0 0 1 1 *");
  const fat = { ...command, template: { ...template, headers: fatHeaders } };
  for (let n = 0; n < count; n++)
    await schedules.put(aSchedule(`scd_${nameOf(n)}`, fat, epochStart + n), "new");
}

async function insertMessages({ records, ids }: GatewayPorts): Promise<void> {
  for (const n of eachRow) {
    const message = aMessage({ id: ids.next(), now: epochStart + n, headers: fatHeaders });
    await records.insert([{ record: accept(message, epochStart + n) }], "new");
  }
}

async function failRuns({ runs }: GatewayPorts): Promise<void> {
  for (const n of eachRow) {
    const plan = {
      features: [],
      headers: fatHeaders,
      policy: { timeoutMs: 1, retriesMax: 3, labels: [] },
    };
    const { run } = await runs.start(aTenant, runId(nameOf(n)), "new", (use) =>
      aRunStart(use, { id: runId(nameOf(n)), now: epochStart + n, plan }),
    );
    await runs.change(run, (now) => {
      if (!isActive(now)) throw new Error("it has ended");
      const failed = failRun(
        now,
        { role: "start" },
        { reason: "non_retryable" },
        epochStart + 1_000 + n,
      );
      if (!failed) throw new Error("it cannot fail");
      return { verdict: true, write: headAlone(failed) };
    });
  }
}

const anEntry = (n: number, at: number): AuditEntry => ({
  id: `aud_${at.toString(36).padStart(9, "0")}${n}`,
  at,
  tenant: aTenant,
  by: { kind: "token", id: "tok_1" },
  operation: "pauseQueue",
  resource: "/v2/queues/q/pause",
  address: "203.0.113.1",
  result: "done",
  expiresAt: at + 1,
});

type Row = {
  readonly path: string;
  readonly seed: (ports: GatewayPorts) => Promise<void>;
  readonly idsIn: (body: never) => readonly string[];
  readonly count: number;
  /** The reason why a list without a page of bytes is bounded. */
  readonly bounded?: string;
};

const seedNothing = async (): Promise<void> => undefined;
const eventId = ({ messageId, state }: { messageId: string; state: string }): string =>
  `${messageId} ${state}`;

const lists: Readonly<Record<string, Row>> = {
  listEvents: {
    path: "/v2/events?count=1000",
    seed: insertMessages,
    idsIn: ({ events }: { events: never[] }) => events.map(eventId),
    count: rows,
  },
  listLogs: {
    path: "/v2/logs?count=10&groupBy=messageId",
    seed: insertMessages,
    idsIn: ({ messages }: { messages: { messageId: string }[] }) =>
      messages.map(({ messageId }) => messageId),
    count: rows,
  },
  listDeadLetters: {
    path: "/v2/dlq?count=100",
    seed: async ({ deadLetters, ids }) => {
      for (const n of eachRow) {
        const message = aMessage({ id: ids.next(), headers: fatHeaders });
        const failedAt = epochStart + n;
        const id = dlqIdOf(message.id, failedAt);
        const letter = { id, failedAt, message, reason: "non_retryable", retried: 0 } as const;
        await deadLetters.insert([letter]);
      }
    },
    idsIn: ({ messages }: { messages: { dlqId: string }[] }) => messages.map(({ dlqId }) => dlqId),
    count: rows,
  },
  listSchedules: {
    path: "/v2/schedules?count=1000",
    seed: (ports) => putSchedules(ports, rows),
    idsIn: (all: { scheduleId: string }[]) => all.map(({ scheduleId }) => scheduleId),
    count: rows,
  },
  listRunLogs: {
    path: "/v2/workflows/logs?count=100",
    seed: failRuns,
    idsIn: ({ runs }: { runs: { workflowRunId: string }[] }) =>
      runs.map(({ workflowRunId }) => workflowRunId),
    count: rows,
  },
  listRunEvents: {
    path: "/v2/workflows/events?count=10&groupBy=workflowRunId",
    seed: failRuns,
    idsIn: ({ runs }: { runs: { workflowRunId: string }[] }) =>
      runs.map(({ workflowRunId }) => workflowRunId),
    count: rows,
  },
  listRunMessages: {
    path: "/v2/workflows/messageLogs?count=100",
    seed: failRuns,
    idsIn: ({ events }: { events: object[] }) => events.map((event) => JSON.stringify(event)),
    count: -1,
  },
  listFailedRuns: {
    path: "/v2/workflows/dlq?count=100",
    seed: failRuns,
    idsIn: ({ messages }: { messages: { dlqId: string }[] }) => messages.map(({ dlqId }) => dlqId),
    count: rows,
  },
  listBulkActions: {
    path: "/v2/bulkActions?count=1000",
    seed: async ({ bulkActions }) => {
      const labels = Array.from({ length: 240 }, (_, n) => `${n}`.padEnd(120, "x"));
      for (const n of eachRow) {
        const at = epochStart + n;
        const work = { kind: "cancel", filter: { labels, from: n } } as const;
        const upTo = { id: messageId("msg_1"), at };
        const made = { id: bulkActionId(nameOf(n)), tenant: aTenant, work, upTo };
        await bulkActions.add(newBulkAction({ ...made, total: 0, createdAt: at }, at), 1_000);
      }
    },
    idsIn: ({ bulkActions }: { bulkActions: { actionId: string }[] }) =>
      bulkActions.map(({ actionId }) => actionId),
    count: rows,
  },
  listChanges: {
    path: "/v2/audit?count=1000",
    seed: async ({ auditLog, clock }) => {
      for (const n of eachRow) await auditLog.begin(anEntry(n, clock.now()));
    },
    idsIn: ({ changes }: { changes: { id: string }[] }) => changes.map(({ id }) => id),
    count: rows,
    bounded: "entries with 256 characters of a path, and no text of a body",
  },
  listGroups: {
    path: "/v2/topics",
    seed: async ({ groups }) => {
      for (const n of eachRow) {
        await groups.replace(aTenant, nameOf(n), undefined, [anEndpoint(n)], "new");
        await groups.configure(aTenant, nameOf(n), fatHeaders);
      }
    },
    idsIn: (all: { name: string }[]) => all.map(({ name }) => name),
    count: rows,
    bounded: "told in pieces of 50 groups, whose default headers have 16 KiB at the most",
  },
  listQueues: {
    path: "/v2/queues",
    seed: async ({ queues }) => {
      await queues.make(aTenant, eachRow.map(nameOf), 1_000);
    },
    idsIn: (all: { name: string }[]) => all.map(({ name }) => name),
    count: rows,
    bounded: "told in pieces of 100 queues",
  },
  listWaiters: {
    path: "/v2/waiters/event",
    seed: seedNothing,
    idsIn: (all: object[]) => all.map((each) => JSON.stringify(each)),
    count: 0,
    bounded: "told in pieces of 20 waits of one run",
  },
  listFlowKeys: {
    path: "/v2/flowControl",
    seed: seedNothing,
    idsIn: (all: object[]) => all.map((each) => JSON.stringify(each)),
    count: 0,
    bounded: "1,000 keys of at most 512 characters",
  },
  listCounts: {
    path: "/v2/counts",
    seed: seedNothing,
    idsIn: ({ minutes }: { minutes: object[] }) => minutes.map((each) => JSON.stringify(each)),
    count: 0,
    bounded: "the minutes of a day, a count of each state",
  },
  readOverview: {
    path: "/v2/overview",
    seed: seedNothing,
    idsIn: () => [],
    count: 0,
    bounded: "four numbers",
  },
};

type Read = { readonly bytes: number; readonly ids: readonly string[] };

async function readAll({ url }: Gateway, { path, idsIn }: Row): Promise<readonly Read[]> {
  const pages: Read[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < 100; page++) {
    const behind = cursor ? `${path.includes("?") ? "&" : "?"}cursor=${cursor}` : "";
    const answer = await fetch(url + path + behind, {
      headers: { Authorization: `Bearer ${aTenant}` },
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    const body = JSON.parse(text) as { readonly cursor?: string };
    pages.push({ bytes: text.length, ids: idsIn(body as never) });
    cursor = answer.headers.get("next-cursor") ?? body.cursor;
    if (!cursor) return pages;
  }
  throw new Error("more pages than rows");
}

describe("each list, of rows with 29 KB of headers,", () => {
  it("has a row here", () => {
    const ids = Object.entries(gatewayEndpoints).flatMap(([id, { kind }]) =>
      kind === "list" ? [id] : [],
    );

    expect(Object.keys(lists).toSorted()).toEqual(ids.toSorted());
  });

  it.each(Object.entries(lists))(
    "%s: ends its pages by bytes, and goes on without losing or repeating a row",
    async (_, row) => {
      const gateway = await start();
      await row.seed(gateway.ports);

      const pages = await readAll(gateway, row);

      const ids = pages.flatMap((page) => page.ids);
      expect(new Set(ids).size).toBe(ids.length);
      if (row.count >= 0) expect(ids).toHaveLength(row.count);
      if (row.bounded !== undefined) return;
      // One item more than the bound.
      const bytesMax = limits.pageBytesMax + 100_000;
      expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThan(bytesMax);
      expect(pages.length).toBeGreaterThan(1);
    },
  );
});

describe("1,001 schedules with 29 KB of headers each", () => {
  it("are read by three of forty callers at a time, in pages of bytes, while another tenant publishes", async () => {
    const count = 1_001;
    let reading = 0;
    let readingMost = 0;
    const bytes: number[] = [];
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const gateway = await start(({ schedules }) => ({
      schedules: {
        ...schedules,
        list: async (...asked) => {
          readingMost = Math.max(readingMost, ++reading);
          await gate;
          const read: readonly Schedule[] = await schedules.list(...asked);
          bytes.push(JSON.stringify(read).length);
          reading -= 1;
          return read;
        },
      },
    }));
    await putSchedules(gateway.ports, count);
    const asTenant = (tenant: string) => ({ Authorization: `Bearer ${tenant}` });

    const readers = Array.from({ length: 40 }, async () => {
      const path = `${gateway.url}/v2/schedules?count=1000`;
      const answer = await fetch(path, { headers: asTenant(aTenant) });
      return [answer.status, (await answer.text()).length] as const;
    });
    const published = await fetch(`${gateway.url}/v2/publish/https://destination.example/`, {
      method: "POST",
      headers: asTenant(anotherTenant),
      body: "hello",
    });
    const readingThen = reading;
    letGo();
    const answers = await Promise.all(readers);

    expect(published.status).toBe(200);
    expect(readingThen).toBeLessThanOrEqual(3);
    expect(readingMost).toBeLessThanOrEqual(3);
    expect(Math.max(...bytes)).toBeLessThan(limits.pageBytesMax + 100_000);
    for (const [status, length] of answers) {
      expect(status).toBe(200);
      expect(length).toBeLessThan(limits.pageBytesMax + 100_000);
    }
  });
});
