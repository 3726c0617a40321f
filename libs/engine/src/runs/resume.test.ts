import { describe, expect, it } from "@jest/globals";
import {
  isFailed,
  isFault,
  type Overrides,
  type Run,
  type RunId,
  runId,
  type RunIn,
  runMessageId,
  type StepKey,
  withoutLetter,
} from "@posthaste/domain";
import { headIfChanged } from "@posthaste/ports";
import {
  aCallbackPlan,
  aCommand,
  aPolicy,
  aRunId,
  aStartCommand,
  aStepCommand,
  aTenant,
} from "@posthaste/testing";
import { open, type Ports, read } from "../opened.fixture.ts";
import { appendSteps } from "./append.ts";
import { placeCall, deliverCallResult } from "./call.ts";
import { endRun, failDelivered } from "./end.ts";
import { notifyRun } from "./notify.ts";
import { resumeRun } from "./resume.ts";
import { startRun } from "./start.ts";
import { placeWait } from "./waits.ts";

const plan = (step: number): StepKey => ({ role: "plan", step });
const result = (step: number): StepKey => ({ role: "result", step });
const nothing: Overrides = { headers: [], policy: {} };
const newId = runId("resumed");
const body = new TextEncoder().encode("{}");

async function current({ runs }: Ports, id: RunId): Promise<Run> {
  const run = await runs.get({ tenant: aTenant, id });
  if (!run) throw new Error(`${id} is not there`);
  return run;
}

async function recordOf(ports: Ports, run: Run, part: string) {
  const id = runMessageId(run.root, part);
  const record = await read(ports, { id, tenant: aTenant });
  if (!record) throw new Error(`${id} is not there`);
  return record;
}

async function failedAt(ports: Ports, part: string): Promise<RunIn<"failed">> {
  const { message } = await recordOf(ports, await current(ports, aRunId), part);
  const item = { kind: "run", says: "failed", attempt: 1, endedAt: ports.clock.now() } as const;
  await failDelivered(ports, message, { ...item, reason: "retries_exhausted" });
  const run = await current(ports, aRunId);
  if (run.state.kind !== "failed") throw new Error("it has not failed");
  return { ...run, state: run.state };
}

async function resumed(ports: Ports, failed: RunIn<"failed">, overrides = nothing): Promise<Run> {
  const run = await resumeRun(ports, failed, newId, overrides);
  if (isFault(run)) throw new Error(run.text);
  return run;
}

describe("a resumed run", () => {
  it("repeats the open deliveries unchanged: destination, settings and time", async () => {
    const ports = open();
    const at = ports.clock.now() + 60_000;
    await startRun(ports, aStartCommand());
    await appendSteps(ports, [
      aStepCommand(plan(1), { headers: [["X-Own", "1"]], policy: aPolicy({ retriesMax: 9 }) }),
      aStepCommand(plan(2), {
        destination: { kind: "url", url: "https://other.example/" },
        postponement: { kind: "notBefore", at },
      }),
      aStepCommand(plan(3)),
    ]);
    await appendSteps(ports, [aStepCommand(result(3))]);

    const run = await resumed(ports, await failedAt(ports, "p1"));

    expect((await recordOf(ports, run, "p1")).message).toMatchObject({
      headers: [["X-Own", "1"]],
      policy: { retriesMax: 9 },
      run: { key: run.key, part: "p1" },
    });
    expect((await recordOf(ports, run, "p2")).message).toMatchObject({
      url: "https://other.example/",
      // The SDK may have rounded the time down to this whole second.
      notBefore: at + 500,
    });
    for (const part of ["start", "p3", "s3"])
      await expect(recordOf(ports, run, part)).rejects.toThrow("is not there");
  });

  it("has the caller's overrides, also instead of the settings of its steps", async () => {
    const ports = open();
    await startRun(ports, aStartCommand({ policy: aPolicy({ labels: ["old"] }) }));
    await appendSteps(ports, [
      aStepCommand(result(1), { headers: [["X-A", "1"]], policy: aPolicy({ retriesMax: 9 }) }),
    ]);
    const failureCallback = aCallbackPlan({ url: "https://told.example/" });

    const run = await resumed(ports, await failedAt(ports, "s1"), {
      headers: [["X-A", "2"]],
      policy: { retriesMax: 1, labels: ["new"], failureCallback },
      postponement: { kind: "delay", delayMs: 5_000 },
    });

    const { message } = await recordOf(ports, run, "s1");
    expect(message.notBefore).toBe(ports.clock.now() + 5_000);
    expect(message.headers).toContainEqual(["X-A", "2"]);
    expect(message.headers).not.toContainEqual(["X-A", "1"]);
    expect(message.policy).toMatchObject({ retriesMax: 1, labels: ["new"], failureCallback });
    expect(run.plan).toMatchObject({
      policy: { labels: ["new"] },
      failureFunction: failureCallback,
    });
  });

  it("redacts the same values as the failed run and its steps", async () => {
    const ports = open();
    const redaction = { body: true, headers: ["x-a"] };
    const policy = aPolicy({ redaction });
    await startRun(ports, aStartCommand({ policy }));
    await appendSteps(ports, [aStepCommand(result(1), { policy })]);

    const run = await resumed(ports, await failedAt(ports, "s1"), {
      headers: [],
      policy: { redaction: { body: false, headers: ["x-b"] } },
    });

    const both = { body: true, headers: ["x-a", "x-b"] };
    const { message } = await recordOf(ports, run, "s1");
    expect(message.policy.redaction).toEqual(both);
    expect(run.plan.policy.redaction).toEqual(both);
  });

  it("has the caller's overrides, also instead of the settings for the answer of a call", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    const told = {
      url: "https://endpoint.example/",
      retriesMax: 9,
      headers: [["X-A", "1"]],
    } as const;
    await placeCall(ports, {
      ...aCommand({ policy: aPolicy({ callback: aCallbackPlan(told) }) }),
      run: { kind: "call", id: aRunId, step: 1 },
    });
    const call = await recordOf(ports, await current(ports, aRunId), "c1");
    const item = { kind: "run", says: "called", attempt: 0, endedAt: ports.clock.now() } as const;
    await deliverCallResult(ports, call.message, item);

    const run = await resumed(ports, await failedAt(ports, "a1"), {
      headers: [["X-A", "2"]],
      policy: { retriesMax: 1, retryDelay: "7", timeoutMs: 8_000 },
      postponement: { kind: "delay", delayMs: 5_000 },
    });

    const { message } = await recordOf(ports, run, "a1");
    expect(message.notBefore).toBe(ports.clock.now() + 5_000);
    expect(message.headers).toContainEqual(["X-A", "2"]);
    expect(message.headers).not.toContainEqual(["X-A", "1"]);
    expect(message.policy).toMatchObject({ retriesMax: 1, retryDelay: "7", timeoutMs: 8_000 });
  });

  it("is not begun when the parts to continue with were swept", async () => {
    const ports = open();
    await startRun(ports, aStartCommand({ body }));
    const failed = await failedAt(ports, "start");
    await ports.clock.advance(10);
    expect(await ports.runs.sweep(aTenant, ports.clock.now(), 10)).toBe(1);

    expect(await resumeRun(ports, failed, newId, nothing)).toMatchObject({ fault: "not_found" });
    expect(await ports.runs.get({ tenant: aTenant, id: newId })).toBeUndefined();
  });

  it("is answered again under its name, and is refused under that of another", async () => {
    const ports = open();
    await startRun(ports, aStartCommand({ body }));
    const failed = await failedAt(ports, "start");
    const run = await resumed(ports, failed);

    expect(await resumed(ports, failed)).toEqual(run);
    const other = { ...failed, key: run.key };
    expect(await resumeRun(ports, other, newId, nothing)).toMatchObject({ fault: "malformed" });
  });
});

describe("an event", () => {
  const address = { tenant: aTenant, id: aRunId };
  const tell = (ports: Ports, text: string) =>
    notifyRun(ports, address, "paid", new TextEncoder().encode(text), true);
  const wait = (ports: Ports, step: number) =>
    placeWait(ports, {
      command: aStepCommand(result(step), { id: newId }),
      event: "paid",
      timeoutMs: 60_000,
      step: { stepId: step, stepType: "Wait" },
      waiter: { url: "https://endpoint.example/workflow", headers: {} },
    });
  async function taken(ports: Ports, steps: readonly number[]): Promise<readonly string[]> {
    for (const step of steps) await wait(ports, step);
    const run = await current(ports, newId);
    const parts = await Promise.all(steps.map((step) => ports.runs.part(run, `s${step}`)));
    return parts.map((part) => {
      const { out } = JSON.parse(new TextDecoder().decode(part?.body)) as { readonly out: string };
      return atob(out);
    });
  }

  it("for a failed run goes to the run that resumes it, and so does a later one for the first id", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    expect(await tell(ports, "before")).toEqual([]);
    await failedAt(ports, "start");
    expect(await tell(ports, "while it has failed")).toEqual([]);
    const failed = await current(ports, aRunId);
    if (!isFailed(failed)) throw new Error("it has not failed");
    await resumed(ports, failed);

    expect(await tell(ports, "after")).toEqual([]);

    const texts = ["before", "while it has failed", "after"];
    expect(await taken(ports, [1, 2, 3])).toEqual(texts);
  });

  it("that comes for a failed run between its reading and its resuming is not lost", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    const failed = await failedAt(ports, "start");
    await tell(ports, "meanwhile");
    await resumed(ports, failed);

    expect(await taken(ports, [1])).toEqual(["meanwhile"]);
  });

  it("for a failed run is taken by none once the run that went on from it has ended", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    const run = await resumed(ports, await failedAt(ports, "start"));
    await endRun(ports, { tenant: aTenant, id: run.id });

    expect(await tell(ports, "late")).toBe("unknown");
  });

  it("for a failed run that is no dead letter any more is kept by none", async () => {
    const ports = open();
    await startRun(ports, aStartCommand());
    const failed = await failedAt(ports, "start");
    await ports.runs.change(failed, (run) => headIfChanged(withoutLetter(run)));

    expect(await tell(ports, "late")).toBe("unknown");
  });
});
