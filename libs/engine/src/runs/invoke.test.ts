import { describe, expect, it } from "@jest/globals";
import { isFault, type Run, runId, type RunId, runMessageId } from "@posthaste/domain";
import { aCommand, aRunId, aStartCommand, aStepCommand, aTenant } from "@posthaste/testing";
import { open, type Ports } from "../opened.fixture.ts";
import { endRun, finishRun } from "./end.ts";
import { answerInvokers, invoke, startChild } from "./invoke.ts";
import { startRun } from "./start.ts";

const child = runId("child");
const address = (id: RunId) => ({ tenant: aTenant, id });

const anInvocation = (id = child, step = 1) => ({
  ...aCommand({ body: new TextEncoder().encode("payload") }),
  run: {
    kind: "invoke",
    child: { kind: "start", id, features: [], headers: [] },
    answer: aStepCommand({ role: "result", step }),
    step: { stepId: step, stepType: "Invoke" },
  } as const,
});

async function opened(): Promise<Ports> {
  const ports = open();
  await startRun(ports, aStartCommand());
  return ports;
}

async function invoked(ports: Ports, id = child) {
  const done = await invoke(ports, anInvocation(id));
  if (isFault(done)) throw new Error(done.text);
  return done;
}

async function current({ runs }: Ports, id: RunId): Promise<Run> {
  const run = await runs.get(address(id));
  if (!run) throw new Error(`${id} is not there`);
  return run;
}

async function result(ports: Ports): Promise<unknown> {
  const part = await ports.runs.part(await current(ports, aRunId), "s1");
  if (!part) return undefined;
  const { out, ...step } = JSON.parse(new TextDecoder().decode(part.body)) as { out: string };
  return { step, out: JSON.parse(out) as unknown };
}

const step = { stepId: 1, stepType: "Invoke" };

describe("an invocation", () => {
  it("starts its child, whose result becomes the result of its step", async () => {
    const ports = await opened();
    const { deduplicated, messageId } = await invoked(ports);

    expect(deduplicated).toBe(false);
    const started = await current(ports, child);
    expect(started.root).toBe(messageId);
    expect(new TextDecoder().decode((await ports.runs.part(started, "start"))?.body)).toBe(
      "payload",
    );
    expect(await result(ports)).toBeUndefined();

    await finishRun(ports, address(child), new TextEncoder().encode('{"b":2}'));

    const out = { body: '{"b":2}', isCanceled: false, isFailed: false };
    expect(await result(ports)).toEqual({ step, out });
  });

  it("has a child that was cancelled as its result, too", async () => {
    const ports = await opened();
    await invoked(ports);
    await endRun(ports, address(child));

    expect(await result(ports)).toEqual({ step, out: { isCanceled: true, isFailed: false } });
  });

  it("that is repeated, with another child as well, is the first", async () => {
    const ports = await opened();
    const first = await invoked(ports);
    const other = runId("other");

    expect(await invoked(ports)).toEqual({ ...first, deduplicated: true });
    expect(await invoked(ports, other)).toMatchObject({
      messageId: first.messageId,
      deduplicated: true,
    });
    expect(await ports.runs.get(address(other))).toBeUndefined();
  });

  it("starts its child once, however often it is worked, and reports its end once", async () => {
    const ports = await opened();
    const { messageId } = await invoked(ports);
    const parent = await current(ports, aRunId);
    await Promise.all([1, 2, 3].map(() => startChild(ports, parent, 1)));
    await finishRun(ports, address(child), new Uint8Array(0));
    const ended = await current(ports, child);
    const before = await current(ports, aRunId);

    await startChild(ports, parent, 1);
    await Promise.all([1, 2, 3].map(() => answerInvokers(ports, ended)));

    expect(await current(ports, child)).toEqual(ended);
    expect(ended).toMatchObject({ root: messageId, generation: 1 });
    expect(await current(ports, aRunId)).toEqual(before);
    expect(before.history.length).toBe(2);
  });

  it("has the end of its child for the log, once and undelivered, where its run has ended", async () => {
    const ports = await opened();
    await invoked(ports);
    await endRun(ports, address(aRunId));
    const parent = await current(ports, aRunId);
    await finishRun(ports, address(child), new TextEncoder().encode('{"b":2}'));

    const out = { body: '{"b":2}', isCanceled: false, isFailed: false };
    expect(await result(ports)).toEqual({ step, out });
    const logged = await current(ports, aRunId);
    expect(logged.history).toEqual(parent.history);
    expect(logged.state).toMatchObject({ kind: "canceled", pending: [{ isLogged: true }] });
    expect(await ports.runs.history(logged, 1)).toEqual([]);
    const delivery = runMessageId(parent.root, "s1");
    expect(await ports.records.get(aTenant, [delivery])).toEqual([undefined]);

    const ended = await current(ports, child);
    await Promise.all([1, 2, 3].map(() => answerInvokers(ports, ended)));
    expect(await current(ports, aRunId)).toEqual(logged);
  });

  it("keeps when its child was created", async () => {
    const ports = await opened();
    await invoked(ports);
    const created = async () => {
      const part = await ports.runs.part(await current(ports, aRunId), "i1");
      return part && (JSON.parse(new TextDecoder().decode(part.body)) as unknown);
    };
    const { createdAt } = await current(ports, child);

    expect(await created()).toEqual({ createdAt });
  });

  it("of a run that has ended is refused, and starts nothing", async () => {
    const ports = await opened();
    await endRun(ports, address(aRunId));

    expect(await invoke(ports, anInvocation())).toMatchObject({ fault: "run_ended" });
    expect(await ports.runs.get(address(child))).toBeUndefined();
  });

  it("of a name whose run is active is refused, and its step may be published again", async () => {
    const ports = await opened();
    await startRun(
      ports,
      aStartCommand({ run: { kind: "start", id: child, features: [], headers: [] } }),
    );
    const before = await current(ports, aRunId);

    expect(await invoke(ports, anInvocation())).toMatchObject({ fault: "run_refused" });

    expect(await current(ports, aRunId)).toEqual(before);
  });
});
