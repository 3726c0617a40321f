/** Tests hostile requests about runs: each is refused with its own status, and changes nothing. */
import { describe, expect, it } from "@jest/globals";
import { firstUser } from "./users.ts";
import { client, destination, other as stranger, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

const mark = { "Upstash-Workflow-Sdk-Version": "1", "Upstash-Workflow-Sdk": "v1.3.3" };
let started = 0;

/** Starts a run whose endpoint answers and does nothing. */
async function startRun(
  payload = "payload",
): Promise<{ readonly id: string; readonly url: string }> {
  const id = `run-${++started}`;
  const path = `/${id}`;
  destination.answers(path, (_, response) => response.writeHead(200, mark).end());
  const url = destination.url(path);
  await client.post(`/v2/trigger/${url}`, { "Upstash-Workflow-RunId": id }, payload);
  await destination.arrival(path);
  return { id, url };
}

const ofRun = (id: string) => ({
  "Upstash-Workflow-RunId": id,
  "Upstash-Workflow-Init": "false",
});
const aStep = (more: object = {}) =>
  JSON.stringify({ stepId: 1, stepName: "one", stepType: "Run", out: "1", concurrent: 1, ...more });
const lengthOf = async (id: string): Promise<number> =>
  (await client.get(`/v2/workflows/runs/${id}`)).list().length;

describe("a step", () => {
  it("of a run of another tenant is refused, and the run stays unchanged", async () => {
    const { id, url } = await startRun();

    const published = await stranger.publish(url, ofRun(id), aStep());
    const waited = await stranger.post(
      "/v2/wait/e",
      ofRun(id),
      JSON.stringify({ url, step: { stepId: 1 } }),
    );
    const ended = await stranger.delete(`/v2/workflows/runs/${id}`);
    const notified = await stranger.post(`/v2/notify/${id}/e`, {}, "event");
    const read = await stranger.get(`/v2/workflows/runs/${id}`);

    expect([published, waited, ended, notified, read].map(({ status }) => status)).toEqual([
      400, 400, 404, 200, 404,
    ]);
    expect(published.error()).toContain("can not append to a a cancelled workflow");
    expect(notified.list()).toEqual([]);
    expect(await lengthOf(id)).toBe(1);
  });

  it.each([
    ["is no JSON", "no json"],
    ["is no object", "[1]"],
    ["names no step", JSON.stringify({ stepName: "one" })],
    ["names a step that is none", aStep({ stepId: 1.5 })],
    ["is beyond all that a run may have", aStep({ stepId: 10_001 })],
    ["is deeply nested, and not even JSON", "[".repeat(100_000)],
  ])(
    "that %s is refused with 412, which fails a run and never ends one as a success",
    async (_, body) => {
      const { id, url } = await startRun();

      const published = await client.publish(url, ofRun(id), body);
      const batched = await client.postJson("/v2/batch", [
        { destination: url, headers: ofRun(id), body },
      ]);

      expect(published.status).toBe(412);
      expect(batched.status).toBe(412);
      expect(await lengthOf(id)).toBe(1);
    },
  );

  it("of several in one batch is refused with the whole batch", async () => {
    const { id, url } = await startRun();
    const item = (body: string) => ({ destination: url, headers: ofRun(id), body });

    const reply = await client.postJson("/v2/batch", [
      item(aStep()),
      item(aStep({ stepId: 2 })),
      item("no step"),
    ]);

    expect(reply.status).toBe(412);
    expect(reply.error()).toContain("[2]");
    expect(await lengthOf(id)).toBe(1);
  });

  it("with the id of an earlier step gets the message of that step, and changes nothing", async () => {
    const { id, url } = await startRun();
    const [first, second] = await Promise.all([
      client.publish(url, ofRun(id), aStep({ out: "1" })),
      client.publish(url, ofRun(id), aStep({ out: "2" })),
    ]);

    expect(first.object()["messageId"]).toBe(second.object()["messageId"]);
    expect([first, second].filter((each) => each.object()["deduplicated"])).toHaveLength(1);
    expect(await lengthOf(id)).toBe(2);
  });
});

describe("a call, an invocation, a wait", () => {
  it.each([
    ["a call without a step", "/v2/publish/", { "Upstash-Workflow-CallType": "toCallback" }, "{}"],
    ["a kind that is none", "/v2/publish/", { "Upstash-Workflow-CallType": "other" }, aStep()],
    ["a step in a queue", "/v2/enqueue/queue/", {}, aStep()],
    ["another version", "/v2/publish/", { "Upstash-Workflow-Sdk-Version": "2" }, aStep()],
    ["a step beyond a body", "/v2/publish/", {}, aStep({ out: "x".repeat(10 * 1_024 * 1_024) })],
  ])("%s is refused with 412", async (_, target, headers, body) => {
    const { id, url } = await startRun();

    const reply = await client.post(`${target}${url}`, { ...ofRun(id), ...headers }, body);

    expect(reply.status).toBe(412);
    expect(await lengthOf(id)).toBe(1);
  });

  it("a wait without a step, or for longer than a year, is refused with 412", async () => {
    const { id, url } = await startRun();
    const wait = (body: object) => client.post("/v2/wait/event", ofRun(id), JSON.stringify(body));

    expect((await wait({ url })).status).toBe(412);
    expect((await wait({ url, timeout: "366d", step: { stepId: 1 } })).status).toBe(412);
    expect((await client.get("/v2/waiters/event")).list()).toEqual([]);
  });
});

describe("JSON that nests twenty thousand levels deep", () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const ofChild = {
    "Upstash-Workflow-RunId": "deep-child",
    "Upstash-Workflow-Init": "true",
    "Upstash-Workflow-Invoke": "true",
  };
  const within = (url: string, id: string) =>
    `{"url":"${url}","workflowUrl":"${url}","workflowRunId":"${id}","headers":{"Upstash-Workflow-Init":["false"]},"step":{"stepId":1,"out":${deep}}}`;

  it("is refused with 412 as a step, alone and in a batch, and in the body of a wait or an invocation", async () => {
    const { id, url } = await startRun();
    const step = `{"stepId":1,"stepName":"one","stepType":"Run","concurrent":1,"out":${deep}}`;
    const batch = JSON.stringify([{ destination: url, headers: ofRun(id), body: step }]);

    const replies = [
      await client.publish(url, ofRun(id), step),
      await client.post("/v2/batch", {}, batch),
      await client.post("/v2/wait/deep", ofRun(id), within(url, id)),
      await client.publish(url, ofChild, within(url, id)),
    ];

    expect(replies.map(({ status }) => status)).toEqual([412, 412, 412, 412]);
    expect(await lengthOf(id)).toBe(1);
    expect((await client.get("/v2/waiters/deep")).list()).toEqual([]);
    expect((await client.get("/v2/workflows/runs/deep-child")).status).toBe(404);
  });

  it("is refused with 400 as a filter of runs, and no run is started or cancelled", async () => {
    const { id, url } = await startRun();
    const named = `{"workflowRunIds":["${id}"],"x":${deep}}`;

    const replies = [
      await client.call("DELETE", "/v2/workflows/runs", {}, named),
      await client.post("/v2/batch/trigger", {}, `[{"workflowUrl":"${url}","x":${deep}}]`),
    ];

    expect(replies.map(({ status }) => status)).toEqual([400, 400]);
    expect(await lengthOf(id)).toBe(1);
  });

  it("is passed on byte for byte as a payload and as the data of an event", async () => {
    const { id, url } = await startRun(deep);
    const wait = JSON.stringify({ url, step: { stepId: 1, stepType: "Wait" }, timeout: "1h" });
    expect((await client.post("/v2/wait/e", ofRun(id), wait)).status).toBe(200);

    expect((await client.post("/v2/notify/e", {}, deep)).list()).toHaveLength(1);

    const history = (await client.get(`/v2/workflows/runs/${id}`)).list();
    const [payload, event] = history.map((entry) =>
      Buffer.from((entry as { body: string }).body, "base64").toString(),
    );
    expect(payload).toBe(deep);
    expect(event).toContain(Buffer.from(deep).toString("base64"));
    expect((await client.get(`/v2/workflows/logs?workflowRunId=${id}`)).status).toBe(200);
  });
});

describe("the name of an event", () => {
  it.each(["50%", "ready?", "ready?yes", "order/17", "%E0%A4", "a%2Fb%zz"])(
    "is taken as clients send it, unescaped: %s",
    async (event) => {
      const { id, url } = await startRun();
      const path = new URL(url).pathname;
      const step = { stepId: 1, stepName: "one", stepType: "Wait", concurrent: 1 };

      const waited = await client.post(
        `/v2/wait/${event}`,
        ofRun(id),
        JSON.stringify({ url, timeout: "1h", step }),
      );
      const waiters = await client.get(`/v2/waiters/${event}`);
      const notified = await client.post(`/v2/notify/${event}`, {}, "event");
      await destination.arrivals(path, 2);
      const noted = await client.post(`/v2/notify/${id}/${event}`, {}, "event");

      expect(waited.status).toBe(200);
      expect(waiters.list()).toHaveLength(1);
      expect(notified.list()).toMatchObject([{ workflowRunId: id }]);
      expect(noted.list()).toEqual([]);
      expect(await lengthOf(id)).toBe(2);
    },
  );

  it("is refused with 412 when it is too long, and nothing waits for it", async () => {
    const { id, url } = await startRun();
    const event = "e".repeat(1_025);

    const waited = await client.post(
      `/v2/wait/${event}`,
      ofRun(id),
      JSON.stringify({ url, step: { stepId: 1 } }),
    );

    expect(waited.status).toBe(412);
    expect((await client.post(`/v2/notify/${event}`)).list()).toEqual([]);
    expect((await client.post(`/v2/notify/${id}/${event}`)).list()).toEqual([]);
  });

  it.each(["a/b", "a?b", "a#b", "a%b", "a\\b", ".."])(
    "may hold characters that the id of a run may not: no run can be called %s",
    async (id) => {
      const reply = await client.post(`/v2/trigger/${destination.url("/named")}`, {
        "Upstash-Workflow-RunId": id,
      });

      expect(reply.status).toBe(400);
      expect(reply.error()).toContain("Workflow-RunId");
    },
  );
});

describe("a request that names an earlier use of a run's id", () => {
  const mine = (id: string, createdAt: number) => ({
    ...ofRun(id),
    "Upstash-Workflow-CreatedAt": String(createdAt),
  });

  async function reused() {
    const id = `reused-${++started}`;
    const path = `/${id}`;
    destination.answers(path, (_, response) => response.writeHead(200, mark).end());
    const url = destination.url(path);
    const times: number[] = [];
    for (const n of [1, 2]) {
      const reply = await client.post(`/v2/trigger/${url}`, { "Upstash-Workflow-RunId": id });
      times.push(Number(reply.object()["workflowCreatedAt"]));
      await destination.arrivals(path, n);
      if (n === 1) await client.delete(`/v2/workflows/runs/${id}`);
    }
    const [before = 0, now = 0] = times;
    return { id, url, before, now };
  }

  it("changes nothing of the active run, and is answered for the earlier one", async () => {
    const { before, id, now, url } = await reused();
    const wait = JSON.stringify({ url, step: { stepId: 1 } });

    const finished = await client.call(
      "DELETE",
      `/v2/workflows/runs/${id}?cancel=false`,
      mine(id, before),
      '"late"',
    );
    const published = await client.publish(url, mine(id, before), aStep());
    const waited = await client.post("/v2/wait/e", mine(id, before), wait);
    const notified = await client.post(`/v2/notify/${id}/e`, mine(id, before), "event");
    const read = await client.get(`/v2/workflows/runs/${id}`, mine(id, before));
    const cancelled = await client.call("DELETE", `/v2/workflows/runs/${id}`, mine(id, now + 1));

    expect(
      [finished, published, waited, notified, read, cancelled].map(({ status }) => status),
    ).toEqual([200, 400, 400, 200, 404, 404]);
    expect(notified.list()).toEqual([]);
    expect(await lengthOf(id)).toBe(1);
    expect((await client.get(`/v2/workflows/runs/${id}`, mine(id, now))).list()).toHaveLength(1);
    const done = await client.call("DELETE", `/v2/workflows/runs/${id}`, mine(id, now));
    expect(done.object()).toEqual({ cancelled: 1 });
  });
});

it("a step with an invalid destination is refused with 412, on each of its ways", async () => {
  const { id } = await startRun();

  expect((await client.publish("https://", ofRun(id), aStep())).status).toBe(412);
  expect((await client.publish("https://", {}, "x")).status).toBe(400);
});

describe("a webhook", () => {
  const hook = (run: string, event: string, body = "x") =>
    fetch(
      `http://127.0.0.1:${server.port}/v2/workflows/hooks/${firstUser.userId}/${run}/${event}`,
      { method: "POST", body },
    );
  const makeHook = (id: string, url: string, eventId: string) =>
    client.publish(
      url,
      ofRun(id),
      aStep({ stepType: "CreateWebhook", out: JSON.stringify({ webhookUrl: "any", eventId }) }),
    );

  it("is received at an address that the run has made, and at no other, whether the run exists or not", async () => {
    const { id, url } = await startRun();
    await makeHook(id, url, "evt_made");

    const answers = await Promise.all([hook(id, "event"), hook("never", "evt_made")]);

    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    const [here, nowhere] = await Promise.all(answers.map((answer) => answer.text()));
    expect(here).toBe(nowhere);
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await hook("never", "evt_made")).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await hook(id, "evt_made")).status).toBe(200);
  });

  it("leaves a bounded number of events with a run, and the run's owner may still notify it", async () => {
    const { id, url } = await startRun();
    await makeHook(id, url, "evt_made");
    const statuses: number[] = [];
    for (let n = 0; n < 101; n++) statuses.push((await hook(id, "evt_made")).status);

    expect(statuses.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(statuses[100]).toBe(429);
    const told = await client.post(`/v2/notify/${id}/evt_made`, {}, "mine");
    expect([told.status, told.list()]).toEqual([200, []]);
  });

  it("leaves a bounded number of bytes with a run", async () => {
    const { id, url } = await startRun();
    await makeHook(id, url, "evt_made");
    const large = "x".repeat(900_000);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await hook(id, "evt_made", large)).status);

    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await client.post(`/v2/notify/${id}/e`, {}, large)).list()).toEqual([]);
  });

  it("ends no wait for an event, and an event ends no wait for a webhook", async () => {
    const { id, url } = await startRun();
    const wait = (step: number, stepType: string) =>
      client.post(
        "/v2/wait/approval",
        ofRun(id),
        JSON.stringify({ url, step: { stepId: step, stepType } }),
      );
    await wait(1, "Wait");
    // 429 where too many wrong addresses came before.
    expect([404, 429]).toContain((await hook(id, "approval")).status);
    await wait(2, "WaitForWebhook");
    expect((await hook(id, "approval")).status).toBe(200);
    expect(await lengthOf(id)).toBe(2);
    expect((await hook(id, "approval")).status).toBe(200);
    await wait(3, "Wait");
    expect(await lengthOf(id)).toBe(2);

    const told = await client.post("/v2/notify/approval", {}, "approved");

    expect(told.list()).toHaveLength(2);
    expect(await lengthOf(id)).toBe(4);
    await wait(4, "WaitForWebhook");
    expect(await lengthOf(id)).toBe(5);
    await wait(5, "WaitForWebhook");
    expect((await client.post("/v2/notify/approval", {}, "again")).list()).toEqual([]);
    expect((await client.post(`/v2/notify/${id}/approval`, {}, "kept")).list()).toEqual([]);
    expect(await lengthOf(id)).toBe(5);
  });
});

it("a notification beyond the bound of a run is refused in its answer, and the notifying step succeeds", async () => {
  const { id } = await startRun();
  for (let n = 0; n < 100; n++) await client.post(`/v2/notify/${id}/e`, {}, `${n}`);

  const refused = await client.post(`/v2/notify/${id}/e`, {}, "beyond");

  expect(refused.status).toBe(200);
  const error = "too many events wait for this run";
  expect(refused.list()).toMatchObject([{ workflowRunId: id, error }]);
});
