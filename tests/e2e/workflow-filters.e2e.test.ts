/** Tests the filters of run lists, and the fields that JavaScript clients do not read, by plain HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "./client.ts";
import { type Json, listOf, objectOf } from "./json.ts";
import { startServer, type TestServer } from "./server.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

let server: TestServer;
const endpoints: WorkflowEndpoint[] = [];
let first: Started;
let second: Started;

/** Both runs have failed. The first one's failure function has been called. */
beforeAll(async () => {
  server = await startServer();
  first = await failed("filtered-a", [200, 500]);
  second = await failed("filtered-b", [500, 500]);
});
afterAll(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.stop()));
  await server.stop();
});

type Started = {
  readonly id: string;
  readonly url: string;
  readonly createdAt: number;
  readonly dlqId: string;
  readonly messageId: string;
};

const bytes = Buffer.from([0xff, 0x00, 0xfe]);

/** Makes a run of an endpoint of its own, which answers its failure function and its steps with these statuses. */
async function failed(id: string, [told, stepped]: readonly [number, number]): Promise<Started> {
  const endpoint = await WorkflowEndpoint.start();
  endpoints.push(endpoint);
  const url = endpoint.route(`/${id}`, async ({ headers }) => {
    const isTold = headers.has("Service-Workflow-Is-Failure");
    return new Response(bytes, {
      status: isTold ? told : stepped,
      headers: { "X-Why": isTold ? "told" : "broken" },
    });
  });
  const settings = {
    "Service-Workflow-RunId": id,
    "Service-Retries": "0",
    "Service-Label": `label-${id}`,
    "Service-Flow-Control-Key": `key-${id}`,
    "Service-Flow-Control-Value": "parallelism=1",
  };
  await server.client.post(`/v2/trigger/${url}`, settings, bytes);
  const run = await eventually(
    () => logged(id),
    (now) => /_(SUCCESS|FAIL)$/.test(String(objectOf(now?.["failureFunction"] ?? {})["state"])),
  );
  const [group = {}] = listOf(run?.["steps"]);
  return {
    ...{ id, url, dlqId: String(run?.["dlqId"]) },
    createdAt: Number(run?.["workflowRunCreatedAt"]),
    messageId: String(listOf(group["steps"])[0]?.["messageId"]),
  };
}

const logged = async (id: string): Promise<Json | undefined> =>
  (await server.client.listed(`/v2/workflows/logs?trimBody=100&workflowRunId=${id}`, "runs"))[0];

const lists = {
  "/v2/workflows/logs?": "runs",
  "/v2/workflows/events?groupBy=workflowRunId&": "runs",
  "/v2/workflows/events?": "events",
  "/v2/workflows/messageLogs?": "events",
  "/v2/workflows/dlq?": "messages",
  "/v2/dlq?source=workflow&": "messages",
} as const;
type List = keyof typeof lists;
const logs = [
  "/v2/workflows/logs?",
  "/v2/workflows/events?",
  "/v2/workflows/messageLogs?",
] as const;
const letters = ["/v2/workflows/dlq?", "/v2/dlq?source=workflow&"] as const;

async function found(list: List, query: string): Promise<readonly string[]> {
  const reply = await server.client.get(`${list}${query}`);
  expect([query, reply.status]).toEqual([query, 200]);
  const ids = new Set(reply.list(lists[list]).map((each) => String(each["workflowRunId"])));
  return ["a", "b"].filter((name) => ids.has(`filtered-${name}`));
}

const urlIn = ({ url }: Started): string => encodeURIComponent(url);

describe.each(Object.keys(lists) as List[])("a list at %s", (list) => {
  it("has the runs of each of its filters, and no others", async () => {
    const only: readonly (readonly [query: string, found: readonly string[]])[] = [
      ["count=10", ["a", "b"]],
      [`workflowRunId=${first.id}`, ["a"]],
      [`workflowCreatedAt=${first.createdAt}`, ["a"]],
      [`workflowUrl=${urlIn(first)}`, ["a"]],
      [`workflowUrl=${urlIn(first)}&workflowUrl=${urlIn(second)}`, ["a", "b"]],
      [`label=label-${first.id}`, ["a"]],
      [`label=label-${first.id},label-${second.id}`, ["a", "b"]],
      [`label=label-${first.id}&workflowUrl=${urlIn(second)}`, []],
      [`flowControlKey=key-${first.id}`, ["a"]],
      ["callerIp=127.0.0.1", ["a", "b"]],
      ["callerIp=10.9.9.9", []],
      [`fromDate=${second.createdAt}`, ["b"]],
      [`toDate=${second.createdAt - 1}`, ["a"]],
      [`fromDate=${first.createdAt}&toDate=${second.createdAt - 1}`, ["a"]],
    ];

    for (const [query, runs] of only)
      expect([query, await found(list, query)]).toEqual([query, runs]);
  });
});

describe.each(logs)("the log at %s", (list) => {
  it("has the runs of a host, a path, a message and a state, and those given with id and time", async () => {
    const host = new URL(first.url).host;

    expect(await found(list, `host=${host}`)).toEqual(["a"]);
    expect(await found(list, "path=/filtered-b")).toEqual(["b"]);
    expect(await found(list, `messageId=${first.messageId}`)).toEqual(["a"]);
    expect(await found(list, "state=RUN_FAILED")).toEqual(["a", "b"]);
    expect(await found(list, "state=RUN_SUCCESS")).toEqual([]);
    const named = `workflowRuns=${second.id}@${second.createdAt}`;
    expect(await found(list, `${named}&label=label-${first.id}`)).toEqual(["b"]);
  });
});

describe.each(letters)("the dead letters at %s", (list) => {
  it("are found by the state of their failure functions, by their ids, and by the names of older clients", async () => {
    expect(await found(list, "failureFunctionState=CALLBACK_SUCCESS")).toEqual(["a"]);
    expect(await found(list, "failureFunctionState=CALLBACK_INPROGRESS")).toEqual([]);
    expect(await found(list, "failureCallbackState=CALLBACK_FAIL")).toEqual(["b"]);
    expect(await found(list, `dlqIds=${second.dlqId}`)).toEqual(["b"]);
    expect(await found(list, `url=${urlIn(second)}`)).toEqual(["b"]);
    expect(await found(list, "responseStatus=500")).toEqual(["a", "b"]);
    expect(await found(list, "responseStatus=404")).toEqual([]);
  });

  it("are listed page by page", async () => {
    const page = await server.client.get(`${list}count=1&callerIp=127.0.0.1`);
    const { cursor } = page.object();

    expect(page.list("messages")).toHaveLength(1);
    expect(cursor).toMatch(/./);
    const rest = `count=1&callerIp=127.0.0.1&cursor=${encodeURIComponent(String(cursor))}`;
    expect(await found(list, rest)).toEqual(["a"]);
  });
});

it("a failed run shows binary bodies as base64, and the request and the answer of its failure function", async () => {
  const letter = await server.client.get(`/v2/workflows/dlq/${second.dlqId}`);
  const run = await logged(second.id);

  expect(letter.object()).toMatchObject({
    ...{ bodyBase64: bytes.toString("base64"), responseBodyBase64: bytes.toString("base64") },
    ...{ responseStatus: 500, responseHeader: { "X-Why": ["broken"] } },
  });
  expect(letter.object()).not.toHaveProperty("body");
  expect(letter.object()).not.toHaveProperty("responseBody");
  expect(run?.["failureFunction"]).toMatchObject({
    ...{ messageId: expect.stringMatching(/^msg_/), url: second.url, state: "CALLBACK_FAIL" },
    ...{ failStatus: 500, failHeaders: { "X-Why": ["broken"] }, dlqId: second.dlqId },
    ...{ responseStatus: 500, responseHeaders: { "X-Why": ["told"] }, maxRetries: 0 },
  });
});

it("a waiter shows the time-out of its wait, and the finished step shows that the time-out came", async () => {
  const endpoint = await WorkflowEndpoint.start();
  endpoints.push(endpoint);
  const headers = { "Service-Workflow-Sdk-Version": "1", "Service-Workflow-Sdk": "v1.3.3" };
  const url = endpoint.route("/waits", async () => new Response("", { headers }));
  const ofRun = { "Service-Workflow-RunId": "waits", "Service-Workflow-Init": "false" };
  await server.client.post(`/v2/trigger/${url}`, { "Service-Workflow-RunId": "waits" });
  const step = { stepId: 1, stepName: "waits", stepType: "Wait", concurrent: 1 };
  const timesOut = {
    ...{ timeoutUrl: url, timeoutBody: "late" },
    timeoutHeaders: { "X-Late": ["yes"] },
  };
  const waited = { url, timeout: "2s", step, ...timesOut };
  await server.client.post("/v2/wait/never", ofRun, JSON.stringify(waited));

  const waiters = await server.client.get("/v2/waiters/never");
  const run = await eventually(
    () => logged("waits"),
    (now) => JSON.stringify(now).includes('"waitTimeout":true'),
  );

  expect(waiters.list()).toMatchObject([{ url, deadline: expect.any(Number), ...timesOut }]);
  expect(listOf(run?.["steps"]).flatMap((group) => listOf(group["steps"]))).toMatchObject([
    {},
    { stepId: 1, stepType: "Wait", waitEventId: "never", state: "STEP_SUCCESS" },
    {},
  ]);
});
