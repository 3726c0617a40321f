/** Tests every endpoint of the tables, from their rows, with unknown names in the query and as another tenant. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { type Estate, everythingOf, type RouteOf, routes, settle } from "./estate.ts";
import { destination, other, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

let estate: Estate;
let before: readonly string[];

beforeAll(async () => {
  estate = await settle(server.client, destination, "me");
  before = await everythingOf(estate);
});

const kinds = ["list", "read", "secret", "act", "write", "publish"] as const;

describe("an unknown name in the query", () => {
  /** Returns the routes whose query is their own: not those that end in a destination or an event's name. */
  const routed = (): readonly RouteOf[] =>
    routes(estate, ...kinds).filter(
      ({ isRaw, template }) => !isRaw && !template.includes("{eventId}"),
    );

  it.each(["labeel=x", "x", "dryrun=true", "label[$ne]=x"])(
    "is refused on every route, and nothing is done: ?%s",
    async (search) => {
      for (const { method, path } of routed()) {
        const reply = await estate.client.call(method, `${path}?${search}`, {});
        expect({ method, path, status: reply.status }).toEqual({ method, path, status: 400 });
        expect(reply.error()).toMatch(/^unknown parameter "/);
      }
      expect(await everythingOf(estate)).toEqual(before);
    },
  );

  it("is refused when it is dryRun on a removal that has no dry run, and nothing is removed", async () => {
    const single = ["/v2/messages/{messageId}", "/v2/schedules/{scheduleId}", "/v2/dlq/{dlqId}"];
    const removals = routed().filter(
      ({ method, template }) => method === "DELETE" && single.includes(template),
    );
    expect(removals).toHaveLength(3);

    for (const { path } of removals)
      expect((await estate.client.delete(`${path}?dryRun=true`)).status).toBe(400);

    expect(await everythingOf(estate)).toEqual(before);
  });
});

describe("another tenant", () => {
  const ids = ["{messageId}", "{dlqId}", "{actionId}"];
  const selectionOf = ({ dlqId, failedRun, messageId, runId }: Estate) => ({
    "/v2/messages": { messageIds: [messageId] },
    "/v2/dlq": { dlqIds: [dlqId] },
    "/v2/dlq/retry": { dlqIds: [dlqId] },
    "/v2/workflows/runs": { workflowRunIds: [runId, failedRun.runId] },
    "/v2/queues": { queueName: "queue", parallelism: 1, paused: false },
    "/v2/topics/{urlGroupName}": { headers: { "Service-Retries": "0" } },
    "/v2/topics/{urlGroupName}/endpoints": { endpoints: [{ url: destination.url("/theirs") }] },
    "/v2/batch": [{ destination: destination.url("/theirs") }, { destination: "group" }],
    "/v2/wait/{eventId}": { url: destination.url("/run"), timeout: "1s", step: { stepId: 1 } },
  });

  it("finds nothing by the ids of the first tenant, and its lists have nothing of the first tenant", async () => {
    for (const { method, path, template, kind } of routes(estate, "read", "list")) {
      const { status, text } = await other.call(method, path, {});
      if (ids.some((id) => template.includes(id)))
        expect({ path, status }).toEqual({ path, status: 404 });
      const mine = [estate.messageId, estate.dlqId, estate.runId, estate.failedRun.dlqId];
      if (kind === "list") expect(mine.filter((id) => text.includes(id))).toEqual([]);
    }
    for (const [path, list] of [
      [`/v2/events?messageIds=${estate.messageId}`, "events"],
      [`/v2/logs?messageIds=${estate.messageId}`, "logs"],
      [`/v2/dlq?dlqIds=${estate.dlqId}`, "messages"],
    ] as const)
      expect((await other.get(path)).list(list)).toEqual([]);
  });

  it("changes nothing of the first tenant on any route, by its ids, by its names or without any", async () => {
    const bodies: Readonly<Record<string, object>> = selectionOf(estate);
    for (const { method, path, template } of routes(estate, "act", "write", "publish", "secret")) {
      const body = JSON.stringify(bodies[template] ?? {});
      const headers = template.startsWith("/v2/schedules/{destination}")
        ? { "Service-Cron": "0 0 1 1 *", "Service-Schedule-Id": "schedule" }
        : {};
      const { status } = await other.call(method, path, headers, body);
      if (ids.some((id) => template.includes(id)))
        expect({ path, status }).toEqual({ path, status: 404 });
    }
    for (const { method, path } of routes(estate, "act", "write"))
      await other.call(method, path, {});
    const { dlqId, failedRun } = estate;
    const theirs = `dlqIds=${dlqId},${failedRun.dlqId}`;
    const statuses = [
      (await other.delete(`/v2/dlq?${theirs}`)).status,
      (await other.post(`/v2/dlq/retry?${theirs}`)).status,
      (await other.delete(`/v2/workflows/dlq?${theirs}`)).status,
    ];

    expect(statuses).toEqual([200, 404, 200]);
    expect(await everythingOf(estate)).toEqual(before);
  });
});
