/** The bounds on the waits of a run and on its history, which also hold for work that does not come from its endpoint. */
import { describe, expect, it } from "@jest/globals";
import { isFault, limits, type Run, runId } from "@posthaste/domain";
import { headAlone } from "@posthaste/ports";
import {
  aCallbackPlan,
  aCommand,
  aPolicy,
  aRunId,
  aStartCommand,
  aStepCommand,
  aTenant,
} from "@posthaste/testing";
import { allOf, open, type Ports } from "../opened.fixture.ts";
import { appendSteps } from "./append.ts";
import { placeCall } from "./call.ts";
import { finishRun } from "./end.ts";
import { invoke } from "./invoke.ts";
import { notify, notifyRun, timeOutWaits } from "./notify.ts";
import { startRun } from "./start.ts";
import { placeWait } from "./waits.ts";

const address = { tenant: aTenant, id: aRunId };
const event = "order.paid";

async function opened(): Promise<Ports> {
  const ports = open();
  await startRun(ports, aStartCommand());
  return ports;
}

const wait = (ports: Ports, step: number) =>
  placeWait(ports, {
    command: aStepCommand({ role: "result", step }),
    event,
    timeoutMs: 60_000,
    step: { stepId: step, stepType: "Wait" },
    waiter: { url: "https://endpoint.example/workflow", headers: {} },
  });

const call = (ports: Ports, step: number) =>
  placeCall(ports, {
    ...aCommand({ policy: aPolicy({ callback: aCallbackPlan({}) }) }),
    run: { kind: "call", id: aRunId, step },
  });

const invocation = (ports: Ports, step: number) =>
  invoke(ports, {
    ...aCommand(),
    run: {
      kind: "invoke",
      child: { kind: "start", id: runId("child"), features: [], headers: [] },
      answer: aStepCommand({ role: "result", step }),
      step: { stepId: step },
    },
  });

async function current({ runs }: Ports): Promise<Run> {
  const run = await runs.get(address);
  if (!run) throw new Error("there is a run");
  return run;
}

/** Fills the history as steps that returned `bytes` bytes would. */
const fillTo = ({ runs }: Ports, bytes: number) =>
  runs.change(address, (run) => ({
    verdict: undefined,
    write: headAlone({ ...run, bytes, version: run.version + 1 }),
  }));

/** Records the bytes of the parts that each change writes. */
function weighed(ports: Ports): { readonly ports: Ports; readonly written: number[] } {
  const written: number[] = [];
  const change: Ports["runs"]["change"] = (of, decide) =>
    ports.runs.change(of, (run) => {
      const decision = decide(run);
      const bytes = decision.write?.parts.reduce((sum, { body }) => sum + body.length, 0) ?? 0;
      if (bytes > 0) written.push(bytes);
      return decision;
    });
  return { ports: { ...ports, runs: { ...ports.runs, change } }, written };
}

describe("the waits of a run", () => {
  it.each([
    ["a call", call],
    ["a wait", wait],
    ["an invocation", invocation],
  ])("is bounded: %s beyond is refused with 412, and changes nothing", async (_, more) => {
    const ports = await opened();
    await ports.runs.change(address, (run) => {
      const pending = Array.from({ length: limits.runPendingMax }, (_each, i) => ({
        ...({ kind: "wait", event: "other", deadline: Infinity } as const),
        step: i + 1,
      }));
      const state = { kind: "active", pending, notes: [] } as const;
      const next = { ...run, state, version: run.version + 1 };
      return { verdict: undefined, write: headAlone(next) };
    });
    const before = await current(ports);

    const refused = await more(ports, limits.runPendingMax + 1);

    expect(refused).toMatchObject({ fault: "run_refused" });
    expect(await current(ports)).toEqual(before);
    expect(await ports.runs.get({ tenant: aTenant, id: runId("child") })).toBeUndefined();
  });
});

describe("a history that is full", () => {
  const body = new Uint8Array(1_000);

  it("takes no step: the step and all of its batch are refused with 412, and one that fits is taken", async () => {
    const ports = await opened();
    const [fits, large] = [1, 2].map((step) => aStepCommand({ role: "result", step }));
    if (!fits || !large) throw new Error("two steps");
    await fillTo(ports, limits.runHistoryBytesMax - 1_000);
    const before = await current(ports);

    const refused = await appendSteps(ports, [fits, { ...large, body }]);

    expect(refused).toMatchObject({ fault: "run_refused" });
    expect(await current(ports)).toEqual(before);
    expect(await appendSteps(ports, [fits])).toMatchObject([{ deduplicated: false }]);
  });

  it("takes no event: the waiter continues to wait, and the sender gets an error", async () => {
    const ports = await opened();
    for (const step of [1, 2, 3]) await wait(ports, step);
    await fillTo(ports, limits.runHistoryBytesMax - 4_000);

    const told = await allOf(notify(ports, aTenant, event, body));

    expect(told.filter((each) => "messageId" in each)).toHaveLength(2);
    const refused = told.filter((each) => "error" in each);
    expect(refused).toMatchObject([{ error: expect.stringContaining("history") }]);
    expect(await current(ports)).toMatchObject({
      reached: 3,
      state: { pending: [{ kind: "wait", step: 3 }] },
    });
    expect((await current(ports)).bytes).toBeLessThanOrEqual(limits.runHistoryBytesMax);
  });

  it("takes no event that came before its wait: the wait is refused with 412", async () => {
    const ports = await opened();
    await notifyRun(ports, address, event, body, true);
    await fillTo(ports, limits.runHistoryBytesMax - 100);

    expect(await wait(ports, 1)).toMatchObject({ fault: "run_refused" });
    expect((await current(ports)).state).toMatchObject({ pending: [], notes: [{ event }] });
  });

  it("still takes the time-out of a wait", async () => {
    const ports = await opened();
    await wait(ports, 1);
    await fillTo(ports, limits.runHistoryBytesMax);
    await ports.clock.advance(60_000);

    await timeOutWaits(ports, address);

    expect((await current(ports)).state).toMatchObject({ pending: [] });
  });

  it("still takes the end of an invoked run, as failed if its result is too large", async () => {
    const ports = await opened();
    const invoked = await invocation(ports, 1);
    if (isFault(invoked)) throw new Error(invoked.text);
    await fillTo(ports, limits.runHistoryBytesMax - 2_000);

    await finishRun(ports, { tenant: aTenant, id: runId("child") }, new Uint8Array(3_000).fill(49));

    const part = await ports.runs.part(await current(ports), "s1");
    expect(JSON.parse(new TextDecoder().decode(part?.body))).toEqual({
      stepId: 1,
      out: JSON.stringify({ isCanceled: false, isFailed: true }),
    });
  });
});

it("an event for many waits of one run is reported in changes that fit into memory, to each wait once", async () => {
  const { ports, written } = weighed(await opened());
  const steps = Array.from({ length: 30 }, (_, i) => i + 1);
  for (const step of steps) await wait(ports, step);
  written.splice(0);

  const told = await allOf(notify(ports, aTenant, event, new Uint8Array(1024 * 1024)));

  expect(told.filter((each) => "messageId" in each)).toHaveLength(30);
  expect(await current(ports)).toMatchObject({ reached: 30, state: { pending: [] } });
  expect(Math.max(...written)).toBeLessThan(2 * limits.readBytesMax);
  expect(written.length).toBeGreaterThan(3);
});
