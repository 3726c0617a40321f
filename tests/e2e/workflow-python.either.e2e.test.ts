/** Tests workflows of the Python package `upstash-workflow`, unmodified, started by the endpoint itself or by a client in JavaScript. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { hasPython, pythonWith } from "@posthaste/local";
import { Client } from "@upstash/workflow";
import { eventually } from "./client.ts";
import { Destination } from "./destination.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";

const folder = join(import.meta.dirname, "clients/python");
/** The packages may have to be fetched. */
const prepareMsMax = 300_000;

if (hasPython()) describe("a workflow in Python", itIsServed);
else it.skip("a workflow in Python (not checked: this host has no python3)", () => undefined);

type Seen = {
  readonly deliveries: readonly { readonly path: string; readonly length: number }[];
  readonly done: readonly unknown[];
};

function itIsServed(): void {
  let server: TestServer;
  let third: Destination;
  let python: ChildProcess;
  let url: string;
  let client: Client;

  beforeAll(async () => {
    const program = await pythonWith(folder);
    server = await startServer();
    third = await Destination.start();
    const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
    client = new Client(settings);
    python = spawn(program, [join(folder, "workflow.py")], {
      env: {
        ...process.env,
        QSTASH_URL: settings.baseUrl,
        QSTASH_TOKEN: settings.token,
        THIRD_URL: third.url("/third"),
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    if (!python.stdout) throw new Error("its port is printed");
    const [port] = (await once(createInterface(python.stdout), "line")) as [string];
    url = `http://127.0.0.1:${port}`;
  }, prepareMsMax);
  afterAll(async () => {
    const hasEnded = once(python, "exit");
    python.kill();
    await hasEnded;
    await third.stop();
    await server.stop();
  });

  const seen = async (): Promise<Seen> => (await (await fetch(url)).json()) as Seen;
  const hasState = (workflowRunId: string, wanted: string) =>
    eventually(
      async () => (await client.logs({ filter: { workflowRunId } })).runs[0],
      (run) => run?.workflowState === wanted,
    );
  const lengthsOf = ({ deliveries }: Seen, path: string): readonly number[] =>
    deliveries.flatMap((each) => (each.path === path ? each.length : []));

  it.each(["its endpoint", "a client"])(
    "runs its steps, each once, when %s starts it: run, both sleeps, a call",
    async (by) => {
      const before = await seen();
      third.answers("/third", (_, response) => response.end("called"));
      const path = `${url}/sequence`;
      const headers = { "my-own": "kept" };
      const body = JSON.stringify({ name: by });
      const workflowRunId =
        by === "a client"
          ? (await client.trigger({ url: path, body: { name: by }, headers })).workflowRunId
          : await startedBy(await fetch(path, { method: "POST", headers, body }));

      await hasState(workflowRunId, "RUN_SUCCESS");

      const after = await seen();
      expect(after.done.slice(before.done.length)).toEqual([
        `hello ${by}`,
        [200, "called", "kept"],
      ]);
      expect(
        third.at("/third").map(({ body }) => JSON.parse(String(body)) as unknown),
      ).toContainEqual({
        asked: `hello ${by}`,
      });
      // A request that starts it; then the start, run, sleep, sleep, the answer of the call, its result, run.
      const lengths = lengthsOf(after, "/sequence").slice(lengthsOf(before, "/sequence").length);
      const asked = by === "a client" ? [] : [0];
      expect(lengths).toEqual([...asked, 1, 2, 3, 4, 0, 5, 6]);
    },
    60_000,
  );

  it("fails when its endpoint says so, and its failure function receives the failure", async () => {
    const before = await seen();
    const workflowRunId = await startedBy(await fetch(`${url}/fails`, { method: "POST" }));
    await hasState(workflowRunId, "RUN_FAILED");
    const { done } = await eventually(seen, (now) => now.done.length >= before.done.length + 3);

    expect(done.slice(before.done.length)).toEqual(["once", "tried", "failed with 500: broken"]);
    // A request that starts it; then the start, the step that fails, and the failure function's delivery.
    const lengths = lengthsOf(await seen(), "/fails");
    expect(lengths).toEqual([0, 1, 2, 0]);
  });
}

async function startedBy(answer: Response): Promise<string> {
  const { workflowRunId } = (await answer.json()) as { readonly workflowRunId: string };
  return workflowRunId;
}
