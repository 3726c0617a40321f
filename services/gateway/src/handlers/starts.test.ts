/** The endpoints that start runs spend the same quota, and count what they have accepted alike. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { defaultPlan, runId, tenantId } from "@posthaste/domain";
import { noMetrics, noTelemetry } from "@posthaste/ports";
import { type VirtualClock } from "@posthaste/testing";
import { type Gateway, startGateway } from "../gateway.fixture.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const destination = "https://flow.example/run";
const starting = (id: string) => ({
  "Upstash-Workflow-Init": "true",
  "Upstash-Workflow-RunId": id,
});
const items = (count: number, headersOf: (id: string) => Record<string, string>): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, i) => ({ destination, headers: headersOf(`run-${i}`) })),
  );

const ways = [
  { way: "publish", path: `publish/${destination}`, count: 1, headers: starting("run-0") },
  { way: "trigger", path: `trigger/${destination}`, count: 1 },
  { way: "batch", path: "batch", count: 3, body: items(3, starting) },
  { way: "batch/trigger", path: "batch/trigger", count: 3, body: items(3, () => ({})) },
] as const satisfies readonly {
  readonly way: string;
  readonly path: string;
  readonly count: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}[];

const post = ({ url }: Gateway, path: string, headers = {}, body = "{}"): Promise<Response> =>
  fetch(`${url}/v2/${path}`, {
    method: "POST",
    headers: { Authorization: "Bearer a", "Content-Type": "application/json", ...headers },
    body,
  });

describe.each<(typeof ways)[number] & { readonly headers?: object; readonly body?: string }>(ways)(
  "runs started by $way",
  ({ path, count, headers, body }) => {
    it("are counted as accepted messages", async () => {
      const counted: unknown[] = [];
      const metrics = {
        ...noMetrics,
        count: (name: string, value: string) => void counted.push([name, value]),
      };
      const gateway = await startGateway(() => ({ telemetry: { ...noTelemetry, metrics } }));
      closers.push(gateway.close);

      expect((await post(gateway, path, headers, body)).ok).toBe(true);

      const each = ["posthaste_messages_accepted_total", "new"];
      expect(counted).toEqual(Array.from({ length: count }, () => each));
    });

    it("are each in the backlog while its count is late", async () => {
      const gateway = await startGateway(
        ({ records }) => ({
          records: { ...records, backlog: () => new Promise<number>(() => undefined) },
        }),
        { ...defaultPlan, backlogMax: count + 1 },
      );
      closers.push(gateway.close);
      const { clock } = gateway.ports;
      expect((await post(gateway, path, headers, body)).ok).toBe(true);
      await (clock as VirtualClock).advance(3_000);

      const last = await post(gateway, `publish/${destination}`);
      const beyond = await post(gateway, `publish/${destination}`);

      expect([last.status, beyond.status]).toEqual([200, 429]);
    });
  },
);

it("a trigger adopts the run that its endpoint was asked to start, as a publish does", async () => {
  const gateway = await startGateway();
  closers.push(gateway.close);
  const asking = { ...starting("run-0"), "Upstash-Workflow-Unknown-Sdk": "true" };
  await post(gateway, `publish/${destination}`, asking);

  const adopting = { ...starting("run-0"), "Upstash-Workflow-Trigger-By-Sdk": "true" };
  const answer = await post(gateway, `trigger/${destination}`, adopting);

  const run = await gateway.ports.runs.get({ tenant: tenantId("a"), id: runId("run-0") });
  expect(run?.adoption).toBe("done");
  expect(await answer.json()).toEqual({
    workflowRunId: "run-0",
    workflowCreatedAt: run?.createdAt,
  });
});
