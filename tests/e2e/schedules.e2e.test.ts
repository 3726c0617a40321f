/** Tests `/v2/schedules`: made, replaced, read, paused, removed, and fired (docs/design/schedules). */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { serve } from "@upstash/workflow";
import { eventually, type Reply, isFilled } from "./client.ts";
import { always } from "./destination.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "./json.ts";
import { developmentToken } from "./server-process.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

let endpoint: WorkflowEndpoint;

startBeforeTests();
beforeAll(async () => {
  endpoint = await WorkflowEndpoint.start();
  await startMinutely();
});
afterAll(() => endpoint.stop());

const minuteMs = 60_000;
jest.setTimeout(4 * minuteMs);
const farCron = "0 0 1 1 *";
const at = (path: string): string => destination.url(path);
type Settings = Parameters<typeof service>[0];

const create = (
  to: string,
  settings: Settings = {},
  body: string | Uint8Array = "",
): Promise<Reply> =>
  client.post(`/v2/schedules/${to}`, service({ Cron: farCron, ...settings }), body);
async function created(to: string, settings: Settings = {}, body = ""): Promise<string> {
  const reply = await create(to, settings, body);
  expect(reply.status).toBe(200);
  return textOf(reply.object()["scheduleId"]);
}
const read = async (id: string): Promise<Json> =>
  (await client.get(`/v2/schedules/${id}`)).object();

/** Made first: their minute comes while the other tests run. */
const minutely = new Map<string, string>();
const workflow = Promise.withResolvers<string>();
async function startMinutely(): Promise<void> {
  const endpoints = JSON.stringify({ endpoints: [{ url: at("/one") }, { url: at("/two") }] });
  await client.post("/v2/topics/minutely/endpoints", {}, endpoints);
  const everyMinute = { Cron: "* * * * *" };
  for (const { prefix } of dialects) {
    const headers = inDialect(prefix, { ...everyMinute, "Forward-X": "y", Label: "tick" });
    const reply = await client.post(`/v2/schedules/${at(`/${prefix}`)}`, headers, "tick");
    minutely.set(prefix, textOf(reply.object()["scheduleId"]));
  }
  minutely.set("group", await created("minutely", everyMinute, "to both"));
  minutely.set("of no group", await created("no-group", everyMinute));
  minutely.set("delayed", await created(at("/delayed"), { ...everyMinute, Delay: "5s" }));
  minutely.set("queue", await created(at("/queue"), { ...everyMinute, "Queue-Name": "ticks" }));
  destination.answers("/failing", always(500)).answers("/waiting", always(500));
  minutely.set("failing", await created(at("/failing"), { ...everyMinute, Retries: "0" }));
  const hourly = { "Retry-Delay": "3600000" };
  minutely.set("waiting", await created(at("/waiting"), { ...everyMinute, ...hourly }));
  const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
  const { handler } = serve<string>(
    async (context) =>
      workflow.resolve(await context.run("step", () => `${context.requestPayload}, run`)),
    { qstashClient: new Qstash(settings), disableTelemetry: true },
  );
  await created(endpoint.route("/workflow", handler), everyMinute, "scheduled");
  // Made and paused within one minute, so that they have nothing to fire.
  const leftMs = minuteMs - (Date.now() % minuteMs);
  if (leftMs < 5_000) await new Promise((resolve) => setTimeout(resolve, leftMs));
  const paused = await created(at("/paused"), everyMinute);
  await client.post(`/v2/schedules/${paused}/pause`);
  const removed = await created(at("/removed"), everyMinute);
  await client.delete(`/v2/schedules/${removed}`);
}
const idOf = (name: string): string => minutely.get(name) ?? "";

describe("POST /v2/schedules/{destination}", () => {
  describe("200", () => {
    it.each(dialects)(
      "makes a schedule that is shown as it was made, with $prefix headers",
      async ({ prefix }) => {
        const before = Date.now();
        const headers = inDialect(prefix, {
          Cron: " CRON_TZ=Europe/Berlin 30 2 1 JAN * ",
          Method: "PUT",
          Retries: "1",
          Timeout: "30s",
          Delay: "90s",
          "Forward-My-Header": "a, b",
          Callback: at("/callback"),
          "Callback-Forward-C": "d",
          "Failure-Callback": at("/failure"),
          Label: "one, two",
          "Flow-Control-Key": "k",
          "Flow-Control-Value": "parallelism=2",
          "Retry-Delay": "1000",
        });
        const reply = await client.post(
          `/v2/schedules/${at("/x?a=b//c")}`,
          { ...headers, "Content-Type": "text/plain" },
          "hello",
        );
        const id = textOf(reply.object()["scheduleId"]);
        const schedule = await read(id);

        expect(reply.status).toBe(200);
        expect(id).toMatch(/^scd_[0-9A-Za-z]{24}$/);
        expect(schedule).toEqual({
          scheduleId: id,
          cron: "CRON_TZ=Europe/Berlin 30 2 1 JAN *",
          destination: at("/x?a=b//c"),
          createdAt: expect.any(Number),
          method: "PUT",
          retries: 1,
          timeout: 30_000,
          delay: 90,
          header: { "My-Header": ["a, b"], "Content-Type": ["text/plain"] },
          body: "hello",
          callback: at("/callback"),
          callbackHeader: { C: ["d"] },
          failureCallback: at("/failure"),
          label: "one",
          labels: ["one", "two"],
          flowControlKey: "k",
          parallelism: 2,
          period: 1,
          retryDelayExpression: "1000",
          callerIP: "127.0.0.1",
          isPaused: false,
          nextScheduleTime: expect.any(Number),
        });
        expect(numberOf(schedule["createdAt"])).toBeGreaterThanOrEqual(before);
        const next = new Date(numberOf(schedule["nextScheduleTime"])).toISOString();
        expect(next).toMatch(/^\d{4}-01-01T01:30:00.000Z$/);
      },
    );

    it("replaces the schedule of the given id as a whole: a missing setting is removed", async () => {
      const first = await created(at("/first"), { "Schedule-Id": "mine", Label: "l" }, "body");
      const before = await read("mine");
      const second = await created(at("/second"), { "Schedule-Id": "mine", Cron: "0 0 2 1 *" });
      const after = await read("mine");

      expect([first, second]).toEqual(["mine", "mine"]);
      expect(after).toMatchObject({ destination: at("/second"), createdAt: before["createdAt"] });
      expect(after).not.toHaveProperty("body");
      expect(after).not.toHaveProperty("label");
    });

    it("shows bytes that are not text as base64, and redacted parts as their hash", async () => {
      const binary = await create(at("/b"), {}, new Uint8Array([0, 255]));
      const hidden = await created(
        at("/h"),
        { "Redact-Fields": "body,header[secret]", "Forward-Secret": "s" },
        "b",
      );

      expect(await read(textOf(binary.object()["scheduleId"]))).toMatchObject({
        bodyBase64: "AP8=",
      });
      expect(await read(hidden)).toMatchObject({
        body: expect.stringMatching(/^REDACTED:[0-9a-f]{64}$/),
        header: { Secret: [expect.stringMatching(/^REDACTED:/)] },
      });
      const listed = (await client.get("/v2/schedules"))
        .list()
        .find((each) => each["scheduleId"] === hidden);
      expect(listed).toMatchObject({ body: expect.stringMatching(/^REDACTED:/) });
    });

    it("makes nothing in a dry run, and answers the next five times", async () => {
      const reply = await create(at("/dry"), { "Dry-Run": "true", "Schedule-Id": "dry" });
      const times = (reply.object()["nextScheduleTimes"] as readonly number[]).map((time) =>
        new Date(time).getUTCFullYear(),
      );
      const [first = 0] = times;

      expect(reply.object()["dryRun"]).toBe(true);
      expect(times).toEqual([0, 1, 2, 3, 4].map((n) => first + n));
      expect((await client.get("/v2/schedules/dry")).status).toBe(404);
    });
  });

  it.each([
    ["@daily", "0 0 * * *"],
    ["@hourly", "0 * * * *"],
    ["CRON_TZ=est5edt @weekly", "CRON_TZ=America/New_York 0 0 * * SUN"],
    ["0 0 1 * ?", "@monthly"],
  ])("200 takes %s, which fires as %s does, and shows it as given", async (cron, other) => {
    const slotsOf = async (Cron: string) =>
      (await create(at("/dry"), { Cron, "Dry-Run": "true" })).text;
    const id = await created(at("/named"), { Cron: cron });

    expect(await slotsOf(cron)).toBe(await slotsOf(other));
    expect(await read(id)).toMatchObject({ cron });
  });

  it("202 repeats the answer to a call with the same deduplication id, and changes nothing", async () => {
    const first = await created(at("/once"), { "Deduplication-Id": "once" });
    const again = await create(at("/other"), { "Deduplication-Id": "once" });

    expect(again.status).toBe(202);
    expect(again.object()).toEqual({ scheduleId: first });
    expect(await read(first)).toMatchObject({ destination: at("/once") });
  });

  it.each([
    ["no cron", { Cron: "" }, "Service-Cron: must be five fields"],
    ["a minute that is none", { Cron: "60 * * * *" }, 'Service-Cron: minute: "60"'],
    ["a zone that is none", { Cron: "CRON_TZ=Mars/X * * * * *" }, "Service-Cron: time zone:"],
    [
      "a day that never comes",
      { Cron: "0 0 31 2 *" },
      "Service-Cron: names no time within eight years",
    ],
    ["an id that is no name", { "Schedule-Id": "a b" }, "Service-Schedule-Id: letters, digits"],
    ["Not-Before", { "Not-Before": "1" }, "Service-Not-Before: a schedule takes Delay"],
    [
      "Not-Before, also beyond the plan",
      { "Not-Before": "99999999999" },
      "Service-Not-Before: a schedule",
    ],
    ["a dry run that is neither", { "Dry-Run": "maybe" }, "Service-Dry-Run: must be true or false"],
    ["a queue that is no name", { "Queue-Name": "a b" }, "Service-Queue-Name: letters"],
  ])("400 for %s, naming the header", async (_, settings, text) => {
    const reply = await create(at("/bad"), { "Schedule-Id": "bad", ...settings });

    expect(reply.status).toBe(400);
    expect(reply.error()).toContain(text);
    expect((await client.get("/v2/schedules/bad")).status).toBe(404);
  });

  it.each([
    ["", "a non-empty destination must be provided"],
    ["ftp://a.b", "endpoint has invalid scheme"],
  ])("400 for the destination %p", async (to, text) => {
    const reply = await create(to);

    expect(reply.status).toBe(400);
    expect(reply.error()).toContain(text);
  });

  it("400 without a cron expression", async () => {
    const reply = await client.post(`/v2/schedules/${at("/bad")}`, {}, "");

    expect(reply.status).toBe(400);
    expect(reply.error()).toBe("Service-Cron: must be given");
  });

  it("412 for one schedule more than the plan allows", async () => {
    const reply = await create(at("/bad"), { Retries: "1001" });

    expect(reply.status).toBe(412);
  });
});

describe("an existing schedule", () => {
  it.each(["PATCH", "POST"])(
    "is paused and resumed with %s, any number of times",
    async (method) => {
      const id = await created(at("/rest"));
      for (const step of ["pause", "pause"])
        expect((await client.call(method, `/v2/schedules/${id}/${step}`, {})).status).toBe(200);
      const paused = await read(id);
      for (const step of ["resume", "resume"])
        expect((await client.call(method, `/v2/schedules/${id}/${step}`, {})).status).toBe(200);

      expect(paused["isPaused"]).toBe(true);
      expect(paused).not.toHaveProperty("nextScheduleTime");
      expect((await read(id))["isPaused"]).toBe(false);
    },
  );

  it("is in the list, oldest first, until it is removed; a second removal succeeds, too", async () => {
    const ids = [await created(at("/1")), await created(at("/2"))];
    const listed = async () =>
      (await client.get("/v2/schedules")).list().map((each) => each["scheduleId"]);
    const before = await listed();
    for (const id of [...ids, ...ids])
      expect((await client.delete(`/v2/schedules/${id}`)).status).toBe(200);

    expect(before.slice(-2)).toEqual(ids);
    expect(await listed()).toEqual(before.slice(0, -2));
    expect((await client.get(`/v2/schedules/${ids[0] ?? ""}`)).status).toBe(404);
  });

  it("is listed page by page with count, until there is no next cursor, or from a time on", async () => {
    const ids = [await created(at("/1")), await created(at("/2")), await created(at("/3"))];
    const all = (await client.get("/v2/schedules")).list();
    const paged: unknown[] = [];
    let search = "?count=2";
    for (let pages = 0; search !== "" && pages < all.length; pages++) {
      const page = await client.get(`/v2/schedules${search}`);
      expect(page.list().length).toBeLessThanOrEqual(2);
      paged.push(...page.list());
      const next = page.headers["next-cursor"];
      search = typeof next === "string" ? `?count=2&cursor=${next}` : "";
    }
    const from = Number(all.at(-1)?.["createdAt"]);
    const latest = (await client.get(`/v2/schedules?cursor=${from}`)).list();
    for (const id of ids) await client.delete(`/v2/schedules/${id}`);

    expect(paged).toEqual(all);
    expect(latest).toEqual(all.filter((each) => Number(each["createdAt"]) >= from));
  });

  it.each(["count=0", "count=1001", "count=x", "count=1&count=2", "cursor=abc", "label=x"])(
    "400 for a list with %s, naming the parameter",
    async (search) => {
      const answer = await client.get(`/v2/schedules?${search}`);

      expect(answer.status).toBe(400);
      expect(answer.error()).toContain(search.split("=")[0]);
    },
  );

  it.each([
    ["GET", "/v2/schedules/no%20name", 400],
    ["GET", "/v2/schedules/nobodys", 404],
    ["PATCH", "/v2/schedules/nobodys/pause", 404],
    ["POST", "/v2/schedules/nobodys/resume", 404],
    ["DELETE", "/v2/schedules/nobodys", 200],
    ["GET", "/v2/schedules/", 200],
  ])("%s %s is answered with %i", async (method, path, status) => {
    expect((await client.call(method, path, {})).status).toBe(status);
  });
});

describe("a schedule for every minute", () => {
  const waitMsMax = 2 * minuteMs;

  it.each(dialects)(
    "delivers its message at the minute, in its dialect, with its id: $prefix",
    async ({ prefix, userAgent }) => {
      const id = idOf(prefix);
      const arrival = await destination.arrival(`/${prefix}`, waitMsMax);
      const messageId = textOf(arrival.headers[`${prefix}message-id`.toLowerCase()]);
      const schedule = await eventually(
        () => read(id),
        (found) => JSON.stringify(found["lastScheduleStates"] ?? {}).includes("SUCCESS"),
      );
      const { events } = (await client.get(`/v2/events?scheduleId=${id}`)).object();

      expect(arrival.body.toString()).toBe("tick");
      expect(arrival.headers).toMatchObject({
        "user-agent": userAgent,
        x: "y",
        [`${prefix}schedule-id`.toLowerCase()]: id,
      });
      expect(messageId).toMatch(/_s$/);
      expect(numberOf(schedule["lastScheduleTime"]) % minuteMs).toBe(0);
      expect(listOf(events)).toContainEqual(
        expect.objectContaining({ messageId, scheduleId: id, label: "tick" }),
      );
    },
  );

  it("delivers to each endpoint of its group", async () => {
    const [one, two] = await Promise.all(
      ["/one", "/two"].map((path) => destination.arrival(path, waitMsMax)),
    );
    const found = await eventually(
      () => read(idOf("group")),
      ({ lastScheduleStates = {} }) => Object.keys(objectOf(lastScheduleStates)).length === 2,
    );

    expect([one?.body.toString(), two?.body.toString()]).toEqual(["to both", "to both"]);
    expect(found).toMatchObject({ destination: "minutely" });
  });

  it("shows why its last slot made no message, alone and in the list", async () => {
    const id = idOf("of no group");
    const schedule = await eventually(
      () => read(id),
      ({ error }) => error !== undefined,
      waitMsMax,
    );
    const listed = (await client.get("/v2/schedules")).list();

    expect(schedule).toMatchObject({ error: "topic no-group not found" });
    expect(schedule["lastScheduleStates"]).toEqual({});
    expect(numberOf(schedule["lastScheduleTime"]) % minuteMs).toBe(0);
    expect(listed.find(({ scheduleId }) => scheduleId === id)).toHaveProperty("error");
  });

  it("delivers through its queue, which it makes and does not change", async () => {
    const arrival = await destination.arrival("/queue", waitMsMax);
    const messageId = textOf(arrival.headers["service-message-id"]);
    const { events } = (await client.get(`/v2/events?messageId=${messageId}`)).object();

    expect(listOf(events)).toContainEqual(expect.objectContaining({ queueName: "ticks" }));
    expect(await read(idOf("queue"))).toMatchObject({ queueName: "ticks" });
    const queue = (await client.get("/v2/queues/ticks")).object();
    expect(queue).toMatchObject({ parallelism: 1, paused: false });
  });

  it("finds its messages among dead letters, in the log and for a cancel", async () => {
    const [failing, waiting] = [idOf("failing"), idOf("waiting")];
    const letters = await client.until(
      `/v2/dlq?scheduleId=${failing}`,
      "messages",
      isFilled,
      waitMsMax,
    );
    const retries = await client.until(
      `/v2/logs?scheduleId=${waiting}&state=RETRY`,
      "logs",
      isFilled,
    );
    await client.delete(`/v2/schedules/${waiting}`);
    const cancelled = await client.delete(`/v2/messages?scheduleId=${waiting}`);
    const left = await client.delete(`/v2/messages?scheduleId=${waiting}&dryRun=true`);

    expect(new Set(letters.map(({ scheduleId }) => scheduleId))).toEqual(new Set([failing]));
    expect(new Set(retries.map(({ scheduleId }) => scheduleId))).toEqual(new Set([waiting]));
    expect(numberOf(cancelled.object()["cancelled"])).toBeGreaterThan(0);
    expect(left.object()["matched"]).toBe(0);
  });

  it("counts its delay from the minute", async () => {
    const arrival = await destination.arrival("/delayed", waitMsMax);

    expect(arrival.at % minuteMs).toBeGreaterThanOrEqual(5_000);
  });

  it("starts a run of the workflow at its destination", async () => {
    expect(await workflow.promise).toBe("scheduled, run");
  });

  it("makes no message when it was paused or removed before", async () => {
    await destination.arrival("/Service-", waitMsMax);

    expect(destination.at("/paused")).toEqual([]);
    expect(destination.at("/removed")).toEqual([]);
  });
});
