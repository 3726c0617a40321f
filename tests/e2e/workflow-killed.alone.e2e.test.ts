/**
 * Tests that a process killed in the middle of two hundred runs leaves them to the next one, and that each run ends with its
 * steps' results.
 */
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client, serve } from "@upstash/workflow";
import { server, startBeforeEach } from "./alone-suite.ts";
import { eventually, equals, hasStatus } from "./client.ts";
import { developmentToken } from "./server-process.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

const count = 200;
const killsAt = [100, 400, 700];

let endpoint: WorkflowEndpoint;

startBeforeEach();
beforeEach(async () => {
  endpoint = await WorkflowEndpoint.start();
});
afterEach(() => endpoint.stop());

const clientSettings = () => ({
  baseUrl: `http://127.0.0.1:${server.port}`,
  token: developmentToken,
});
const hasEnded = (id: string) =>
  eventually(() => server.client.get(`/v2/workflows/runs/${id}`), hasStatus(404));

it("runs survive kill -9: each ends, with the result of its steps", async () => {
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
  const settings = clientSettings();
  const results = new Map<number, Set<number>>();
  let steps = 0;
  let kills = 0;
  let restarted = Promise.resolve();
  const step = (value: number): number => {
    steps += 1;
    if (steps === killsAt[kills]) {
      kills += 1;
      restarted = server.process.kill().then(() => server.process.start());
    }
    return value;
  };
  const { handler } = serve<{ n: number }>(
    async (context) => {
      const { n } = context.requestPayload;
      const one = await context.run("one", () => step(n));
      const [two, three] = await Promise.all([
        context.run("two", () => step(one + 1)),
        context.run("three", () => step(one + 2)),
      ]);
      await context.sleep("a little", 1);
      const sum = await context.run("sum", () => step(two + three));
      results.set(n, (results.get(n) ?? new Set<number>()).add(sum));
      return sum;
    },
    { qstashClient: new Qstash(settings), disableTelemetry: true },
  );
  const url = endpoint.route("/run", handler);

  const client = new Client(settings);
  const starts = Array.from({ length: count }, (_, n) => startOnce(client, url, n));
  const ids = await Promise.all(starts);
  await eventually(() => Promise.resolve(results.size), equals(count));
  await restarted;
  for (const id of ids) await hasEnded(id);

  // A trigger that is repeated after its answer was lost, and its run ended, starts a second use of the id.
  const logged = await server.client.get(`/v2/workflows/logs?count=${2 * count}&trimBody=100`);
  const runs = new Map(logged.list("runs").map((run) => [run["workflowRunId"], run]));

  expect(kills).toBe(killsAt.length);
  expect(runs.size).toBe(count);
  for (const [n, id] of ids.entries())
    expect(runs.get(id)).toMatchObject({
      workflowState: "RUN_SUCCESS",
      workflowRunResponse: String(2 * n + 3),
    });
  for (const [n, sums] of results) expect([...sums]).toEqual([2 * n + 3]);
  // Each kill repeats the steps under way, and no more.
  expect(steps).toBeLessThanOrEqual(count * 4 + kills * count * 2);
});

it("a clean stop loses no result of a running step, and takes no new run", async () => {
  const settings = clientSettings();
  let steps = 0;
  const { promise: isRunning, resolve: runs } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const { handler } = serve(
    async (context) => {
      const one = await context.run("slow", async () => {
        steps += 1;
        runs();
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return steps;
      });
      end(await context.run("next", () => one));
    },
    { qstashClient: new Qstash(settings), disableTelemetry: true },
  );
  const url = endpoint.route("/slow", handler);
  const { workflowRunId } = await new Client(settings).trigger({ url });
  await isRunning;

  server.process.signal("SIGTERM");
  await eventually(
    () => server.client.get("/readyz"),
    ({ status }) => status !== 200,
  );
  const refused = await server.client.publish(url, {
    "Service-Workflow-Init": "true",
    "Service-Workflow-RunId": "late",
  });
  expect(await server.process.ended()).toBe(0);
  await server.process.start();

  expect(await ended).toBe(1);
  expect(refused.status).toBe(503);
  expect(steps).toBe(1);
  await hasEnded(workflowRunId);
});

/** Starts a run, and repeats that under its name until it is known to be stored. */
async function startOnce(client: Client, url: string, n: number): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    try {
      const options = { url, body: { n }, workflowRunId: `n${n}`, retries: 5, retryDelay: "200" };
      return (await client.trigger(options)).workflowRunId;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`run ${n} was not started`);
}
