/** Tests the audit log, as a tenant and the operator read it (docs/management.md). */
import { describe, expect, it } from "@jest/globals";
import { Client, type Reply } from "./client.ts";
import { textOf } from "./json.ts";
import { newTenant, operatorEnv, operatorUser, untilStatus } from "./operator.ts";
import { begin } from "./session.ts";
import { destination, operator, server, startBeforeTests } from "./suite.ts";

startBeforeTests({ env: operatorEnv });

const refusal = (reply: Reply) => ({ status: reply.status, error: reply.error() });

describe("the audit log", () => {
  const changesOf = async (reply: Promise<Reply>) => (await reply).list("changes");

  it("lists each change by token, session or operator, latest first, and no body", async () => {
    const id = newTenant();
    const caller = await operator.tenant(id);
    const anonymous = new Client(server.port, null);
    const token = await operator.token(id, "full", { name: "shop" });
    await untilStatus(new Client(server.port, token), 200);
    const session = await begin(anonymous, `Bearer ${token}`);
    const network = { "x-forwarded-for": "203.0.113.7" };
    await caller.post("/v2/queues", network, '{"queueName":"mail","parallelism":2}');
    await anonymous.post("/v2/queues/mail/pause", { ...session, ...network });
    await caller.call("DELETE", "/v2/queues/none?dryRun=true", network);
    await caller.call("DELETE", "/v2/dlq/none", network);
    const schedule = { "service-cron": "0 0 1 1 *", "service-schedule-id": "yearly" };
    await caller.post(`/v2/schedules/${destination.url("/?secret=x")}`, {
      ...schedule,
      ...network,
    });
    const dryRun = { "service-cron": "0 0 1 1 *", "service-dry-run": "true" };
    await caller.post(`/v2/schedules/${destination.url("/")}`, { ...dryRun, ...network });
    await caller.publish(destination.url("/no-change"));
    await operator.patch(`/v2/tenants/${id}`, { plan: { retriesMax: 9 } });

    const own = await caller.get("/v2/audit");
    const all = await operator.get(`/v2/audit/all?tenant=${id}`);

    const byToken = { kind: "token", id: expect.stringMatching(/^tok_/) };
    const seen = { tenant: id, result: "done", address: "203.0.113.7" };
    const ofOperator = {
      tenant: id,
      by: { kind: "operator", id: operatorUser, role: "admin" },
      result: "done",
    };
    const expected = [
      { ...ofOperator, operation: "changeTenant", resource: `/v2/tenants/${id}` },
      { ...seen, by: byToken, operation: "createSchedule", resource: "/v2/schedules/yearly" },
      {
        ...{ ...seen, by: byToken, operation: "removeDeadLetter", resource: "/v2/dlq/none" },
        result: "not_found",
      },
      {
        ...{ ...seen, operation: "pauseQueue", resource: "/v2/queues/mail/pause" },
        by: { ...byToken, name: "shop", session: expect.stringMatching(/^.{8}$/) },
      },
      { ...seen, by: byToken, operation: "upsertQueue", resource: "/v2/queues/mail" },
      {
        ...{ tenant: id, result: "done", operation: "signIn", resource: "/console/session" },
        by: { ...byToken, name: "shop", session: expect.stringMatching(/^.{8}$/) },
      },
      { ...ofOperator, operation: "createToken", resource: `/v2/tenants/${id}/tokens` },
      { ...ofOperator, operation: "createToken", resource: `/v2/tenants/${id}/tokens` },
      { ...ofOperator, operation: "createTenant", resource: `/v2/tenants/${id}` },
    ];
    expect(own.list("changes")).toMatchObject(expected);
    expect(all.list("changes")).toMatchObject(expected);
    expect(own.list("changes").filter(({ address }) => address === undefined)).toHaveLength(4);
    expect(all.list("changes").filter(({ address }) => address === undefined)).toEqual([]);
    expect(own.text).not.toMatch(/secret=x|parallelism/);
  });

  it("comes in pages, of the caller's tenant alone", async () => {
    const [mine, theirs] = [newTenant(), newTenant()];
    const caller = await operator.tenant(mine);
    const other = await operator.tenant(theirs);
    for (const name of ["a", "b", "c"]) await caller.post(`/v2/queues/${name}/pause`);

    const first = await caller.get("/v2/audit?count=2");
    const cursor = textOf(first.object()["cursor"]);
    const rest = await caller.get(`/v2/audit?count=100&cursor=${cursor}`);

    const resourcesOf = (reply: Reply) => reply.list("changes").map(({ resource }) => resource);
    expect(resourcesOf(first)).toEqual(["/v2/queues/c/pause", "/v2/queues/b/pause"]);
    expect(resourcesOf(rest)[0]).toBe("/v2/queues/a/pause");
    expect(rest.object()).not.toHaveProperty("cursor");
    for (const { tenant } of await changesOf(other.get(`/v2/audit?cursor=${cursor}`)))
      expect(tenant).toBe(theirs);
    expect(refusal(await caller.get("/v2/audit?cursor=x"))).toEqual({
      status: 400,
      error: "cursor: must be the cursor of the previous page",
    });
    expect(refusal(await operator.get("/v2/audit/all?count=0"))).toEqual({
      status: 400,
      error: "count: must be a whole number from 1 to 1000",
    });
    expect((await caller.get("/v2/audit?tenant=other")).status).toBe(400);
  });
});
