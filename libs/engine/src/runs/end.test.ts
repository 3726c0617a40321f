import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  isFault,
  limits,
  type Message,
  type Run,
  runId,
  type RunItem,
  runMessageId,
  type StepKey,
} from "@posthaste/domain";
import {
  aCallbackPlan,
  aCommand,
  aFlow,
  anAnswer,
  aPolicy,
  aRunId,
  aStartCommand,
  aStepCommand,
  aTenant,
} from "@posthaste/testing";
import { type TokenStore } from "@posthaste/ports";
import { listen, open, type Ports, read, rest } from "../opened.fixture.ts";
import { appendSteps } from "./append.ts";
import { endRun, failDelivered, finishRun, startUnmarked } from "./end.ts";
import { cancelFunction, failureTold, restartFailureFunction } from "./failure-function.ts";
import { invoke } from "./invoke.ts";
import { ringRun } from "./ring.ts";
import { startRun } from "./start.ts";

const address = { tenant: aTenant, id: aRunId };
const result = (step: number): StepKey => ({ role: "result", step });
const payload = new TextEncoder().encode('{"the":"payload"}');
const failureCallback = aCallbackPlan({ url: "https://endpoint.example/failed" });

async function opened(policy = aPolicy({ failureCallback })) {
  const ports = open();
  await startRun(ports, aStartCommand({ body: payload, policy }));
  const { root } = await current(ports);
  const messageOf = async (part?: string): Promise<Message> => {
    const id = part === undefined ? root : runMessageId(root, part);
    const record = await read(ports, { id, tenant: aTenant });
    if (!record) throw new Error(`${id} is not there`);
    return record.message;
  };
  const partOf = (part: string) => read(ports, { id: runMessageId(root, part), tenant: aTenant });
  return {
    ports,
    messageOf,
    told: () => partOf("f"),
    stateOf: async (part: string) => (await partOf(part))?.state.kind,
    step: (n: number) => appendSteps(ports, [aStepCommand(result(n))]),
  };
}

async function current({ runs }: Ports) {
  const run = await runs.get(address);
  if (!run) throw new Error("there is a run");
  return run;
}

const failed = ({ clock }: Ports, overrides: Partial<RunItem> = {}): RunItem => ({
  kind: "run",
  says: "failed",
  attempt: 3,
  endedAt: clock.now(),
  reason: "retries_exhausted",
  response: anAnswer(500, { body: "it broke" }),
  ...overrides,
});

describe("a run that returns", () => {
  it("has ended with its result, once", async () => {
    const { ports, step } = await opened();

    expect(await finishRun(ports, address, payload)).toBe("now");
    const ended = await current(ports);
    expect(ended.state).toMatchObject({ kind: "succeeded", endedAt: ports.clock.now() });
    expect((await ports.runs.part(ended, "e"))?.body).toEqual(payload);

    expect(await finishRun(ports, address, new Uint8Array(1))).toBe("before");
    expect(await endRun(ports, address)).toBe("before");
    expect(await step(1)).toMatchObject({ fault: "run_ended" });
    expect(await current(ports)).toEqual(ended);
    expect((await ports.runs.part(ended, "e"))?.body).toEqual(payload);
  });

  it("with nothing keeps nothing", async () => {
    const { ports } = await opened();
    await finishRun(ports, address, new Uint8Array(0));

    expect(await ports.runs.part(await current(ports), "e")).toBeUndefined();
  });

  it("is answered as unknown if it does not exist", async () => {
    const ports = open();

    expect(await finishRun(ports, address, payload)).toBe("unknown");
    expect(await endRun(ports, address)).toBe("unknown");
  });

  it("leaves nothing that waits for its time", async () => {
    const { ports, stateOf, step } = await opened();
    await step(1);
    const sleeps = [2, 3].map((n) => ({
      ...aStepCommand({ role: "plan", step: n }),
      postponement: { kind: "delay", delayMs: n * 86_400_000 } as const,
    }));
    await appendSteps(ports, sleeps);
    expect([await stateOf("p2"), await stateOf("p3")]).toEqual(["held", "held"]);

    await finishRun(ports, address, payload);

    expect([await stateOf("p2"), await stateOf("p3")]).toEqual(["canceled", "canceled"]);
    // The message of the run's start was never claimed here.
    expect(await ports.records.backlog(aTenant)).toBe(2);
  });

  it("leaves nothing in the line of its flow key, which may be paused, and gives back the slot that it had", async () => {
    const ports = open();
    const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
    const features = ["WF_TriggerOnConfig"] as const;
    const run = { kind: "start", id: aRunId, features, headers: [] } as const;
    await startRun(ports, aStartCommand({ run, policy: aPolicy({ flow }) }));
    for (const role of ["plan", "result"] as const)
      await appendSteps(ports, [aStepCommand({ role, step: 1 }), aStepCommand({ role, step: 2 })]);
    await appendSteps(ports, [aStepCommand(result(3))]);
    const inLine = async () => (await ports.flowLanes.heads(aFlow, 10)).length;
    expect(await inLine()).toBe(6);
    const released: string[] = [];
    const release: TokenStore["release"] = async (lane, ids) => void released.push(lane, ...ids);
    const [first] = await ports.flowLanes.heads(aFlow, 1);
    const { root } = await current(ports);
    const s2 = runMessageId(root, "s2");
    await ports.flowLanes.promote(aFlow, [s2], ports.clock.now() + 1_000);
    expect(first?.id).toBe(root);

    await endRun({ ...ports, tokens: { ...ports.tokens, release } }, address);

    // The delivery of the start, which the steps have answered, leaves the line when it is given a slot.
    expect(await inLine()).toBe(3);
    expect(released).toEqual([
      aFlow,
      ...["s3", "s1", "s2"].map((part) => runMessageId(root, part)),
    ]);
  });

  it("is rung half a minute later, should its process have left something, and then no more", async () => {
    const { ports, stateOf, step } = await opened();
    await step(1);
    const never: typeof ports.records.drop = () =>
      Promise.reject(new Error("the process has ended"));
    const dying = { ...ports, records: { ...ports.records, drop: never } };
    await endRun(dying, address);
    expect(await stateOf("s1")).toBe("due");

    await ports.clock.advance(limits.ringAheadMs);
    const { rung } = await ports.alarms.ring(allShards, 10, ["run"]);
    for (const each of rung) if (each.kind === "run") await ringRun(ports, each.run);

    expect(await stateOf("s1")).toBe("canceled");
    expect((await current(ports)).state).not.toHaveProperty("dropBy");
    await ports.clock.advance(10 * limits.ringAheadMs);
    expect((await ports.alarms.ring(allShards, 10, ["run"])).rung).toEqual([]);
  });

  it("many times and cancelled at once ends once", async () => {
    const { ports } = await opened();

    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0 ? endRun(ports, address) : finishRun(ports, address, payload),
      ),
    );

    expect(ends.filter((each) => each === "now")).toHaveLength(1);
    expect((await current(ports)).version).toBe(2);
  });
});

describe("a delivery that has failed for good", () => {
  it("fails its run, and gives all of it to the failure function", async () => {
    const { messageOf, ports, told } = await opened();
    const heard = await listen(ports);

    await failDelivered(ports, await messageOf(), failed(ports));
    await rest(ports);

    const run = await current(ports);
    expect(run.state).toMatchObject({
      kind: "failed",
      failure: { at: "start", reason: "retries_exhausted", status: 500 },
    });
    expect(new TextDecoder().decode((await ports.runs.part(run, "x"))?.body)).toBe("it broke");
    const record = await told();
    expect(record?.message).toMatchObject({ url: failureCallback.url, run: { part: "f" } });
    expect(heard.due.map(({ id }) => id)).toEqual([record?.message.id]);
    const body: unknown = JSON.parse(new TextDecoder().decode(record?.message.body));
    expect(body).toMatchObject({
      status: 500,
      body: Buffer.from("it broke").toString("base64"),
      sourceMessageId: run.root,
      sourceBody: Buffer.from(payload).toString("base64"),
      dlqId: run.state.kind === "failed" ? run.state.failure.dlqId : undefined,
    });
  });

  it("leaves nothing of its run that waits for its time", async () => {
    const { messageOf, ports, step } = await opened();
    await step(1);
    const first = await messageOf("s1");
    await appendSteps(ports, [
      {
        ...aStepCommand({ role: "plan", step: 2 }),
        postponement: { kind: "delay", delayMs: 86_400_000 },
      },
      aStepCommand({ role: "plan", step: 3 }),
    ]);
    const sleeping = await messageOf("p2");

    await failDelivered(ports, await messageOf("p3"), failed(ports));

    expect((await read(ports, sleeping))?.state.kind).toBe("canceled");
    expect((await read(ports, first))?.state.kind).not.toBe("canceled");
  });

  it("is reported to the run that has invoked its run", async () => {
    const { ports } = await opened();
    const child = runId("child");
    const invoked = await invoke(ports, {
      ...aCommand({ body: payload }),
      run: {
        kind: "invoke",
        child: { kind: "start", id: child, features: [], headers: [] },
        answer: aStepCommand(result(1)),
        step: { stepId: 1, stepType: "Invoke" },
      },
    });
    if (isFault(invoked)) throw new Error(invoked.text);
    const record = await read(ports, { id: invoked.messageId, tenant: aTenant });
    if (!record) throw new Error("the child has a start");

    await failDelivered(ports, record.message, failed(ports));

    const part = await ports.runs.part(await current(ports), "s1");
    expect(new TextDecoder().decode(part?.body)).toContain(String.raw`\"isFailed\":true`);
  });

  it("fails its run once if it comes twice, and reports that once", async () => {
    const { messageOf, ports, told } = await opened();
    const message = await messageOf();
    await failDelivered(ports, message, failed(ports));
    const [before, first] = [await current(ports), await told()];
    const backlog = await ports.records.backlog(aTenant);
    const heard = await listen(ports);
    await ports.clock.advance(1_000);

    await failDelivered(ports, message, failed(ports));
    await rest(ports);

    expect(await current(ports)).toEqual(before);
    expect(await told()).toEqual(first);
    expect(await ports.records.backlog(aTenant)).toBe(backlog);
    expect(heard.due).toEqual([]);
  });

  it("of several the first fails the run", async () => {
    const { messageOf, ports, step } = await opened();
    await appendSteps(
      ports,
      [1, 2].map((n) => aStepCommand({ role: "plan", step: n })),
    );
    const [p1, p2] = [await messageOf("p1"), await messageOf("p2")];

    await Promise.all([p2, p1].map((each) => failDelivered(ports, each, failed(ports))));

    const run = await current(ports);
    expect(run.state).toMatchObject({ kind: "failed", failure: { at: "p2" } });
    expect(run.version).toBe(3);
    expect(await step(1)).toMatchObject({ fault: "run_ended" });
  });

  it("fails nothing once it was answered: its effects show that it has succeeded", async () => {
    const { messageOf, ports, step, told } = await opened();
    const start = await messageOf();
    await step(1);
    const first = await messageOf("s1");
    await step(2);
    const before = await current(ports);

    await failDelivered(ports, first, failed(ports));
    expect(await current(ports)).toEqual(before);
    await failDelivered(ports, start, failed(ports));
    expect(await current(ports)).toMatchObject({ state: { kind: "active" }, marks: "none" });
    expect(await told()).toBeUndefined();

    await failDelivered(ports, await messageOf("s2"), failed(ports));
    expect((await current(ports)).state).toMatchObject({ kind: "failed", failure: { at: "s2" } });
  });

  it("is expected to mark its answers, unless its start was answered without a mark", async () => {
    const { messageOf, ports, step } = await opened();
    const start = await messageOf();
    await step(1);
    expect((await current(ports)).marks).toBe("expected");

    await startUnmarked(ports, start);
    const unmarked = await current(ports);
    await startUnmarked(ports, start);

    expect(unmarked.marks).toBe("none");
    expect(await current(ports)).toEqual(unmarked);
  });

  it("of a client that requires a workflow must be marked, though its start was not answered", async () => {
    const { messageOf, ports, step } = await opened();
    const start = await messageOf();
    await step(1);
    const detects = start.run && { ...start, run: { ...start.run, detects: "client" as const } };
    if (!detects) throw new Error("it is of a run");

    await failDelivered(ports, detects, failed(ports));
    expect((await current(ports)).marks).toBe("expected");
    await failDelivered(ports, detects, failed(ports, { reason: "not_a_workflow" }));
    expect((await current(ports)).marks).toBe("none");
  });

  it("gives its failure function the missing mark of a successful answer, and not that answer", async () => {
    const { messageOf, ports, told } = await opened();
    const error = "it lacks the mark";

    const item = failed(ports, { error, response: anAnswer(200, { body: "<p>back soon" }) });
    await failDelivered(ports, await messageOf(), item);

    const message = await told();
    const { body, status } = JSON.parse(new TextDecoder().decode(message?.message.body)) as {
      body: string;
      status: number;
    };
    expect(status).toBe(200);
    expect(JSON.parse(Buffer.from(body, "base64").toString())).toMatchObject({ message: error });
  });

  it("fails no run that has ended", async () => {
    const { messageOf, ports, told } = await opened();
    const message = await messageOf();
    await endRun(ports, address);
    const before = await current(ports);

    await failDelivered(ports, message, failed(ports));

    expect(await current(ports)).toEqual(before);
    expect(await told()).toBeUndefined();
  });

  it("fails no later run of the same id", async () => {
    const { messageOf, ports } = await opened();
    const message = await messageOf();
    await endRun(ports, address);
    await startRun(ports, aStartCommand());
    const next = await current(ports);

    await failDelivered(ports, message, failed(ports));

    expect(await current(ports)).toEqual(next);
  });

  it("calls nothing if the run has no failure function", async () => {
    const { messageOf, ports, told } = await opened(aPolicy());

    await failDelivered(ports, await messageOf(), failed(ports));

    expect((await current(ports)).state.kind).toBe("failed");
    expect(await told()).toBeUndefined();
    expect(await ports.runs.part(await current(ports), "f")).toBeUndefined();
  });

  it("keeps the headers of the answer once: in its event, or beside it", async () => {
    const response = { ...anAnswer(500, {}), headers: [["X-Why", "canary"]] } as const;
    const saying: (readonly string[])[] = [];
    for (const policy of [aPolicy({ failureCallback }), aPolicy()]) {
      const { ports, messageOf } = await opened(policy);
      await failDelivered(ports, await messageOf(), failed(ports, { response }));
      const run = await current(ports);
      const parts = await Promise.all(["x", "f", "h"].map((name) => ports.runs.part(run, name)));
      saying.push(
        parts.flatMap((part) =>
          part && new TextDecoder().decode(part.body).includes("canary") ? part.name : [],
        ),
      );
    }

    expect(saying).toEqual([["f"], ["h"]]);
  });

  it("without an answer is reported as an error that endpoints can read", async () => {
    const { messageOf, ports, told } = await opened();
    const { response: _, ...item } = failed(ports, { error: "it took too long" });

    await failDelivered(ports, await messageOf(), item);

    const said = JSON.parse(new TextDecoder().decode((await told())?.message.body)) as {
      status: number;
      body: string;
    };
    expect(said.status).toBe(0);
    expect(JSON.parse(Buffer.from(said.body, "base64").toString())).toEqual({
      error: "Error",
      message: "it took too long",
    });
  });
});

describe("a failure function", () => {
  const told = (ports: Ports, overrides: Partial<RunItem> = {}): RunItem => ({
    ...{ kind: "run", says: "told", attempt: 0, endedAt: ports.clock.now() },
    ...overrides,
  });
  const broken = { reason: "retries_exhausted", response: anAnswer(500, { body: "no" }) } as const;

  async function failing() {
    const opening = await opened();
    const { messageOf, ports } = opening;
    await failDelivered(ports, await messageOf(), failed(ports));
    const functionOf = async () => failureOf(await current(ports)).function;
    return { ...opening, functionOf };
  }

  it("has succeeded when it was called, with its answer", async () => {
    const { functionOf, messageOf, ports } = await failing();
    expect(await functionOf()).toEqual({ round: 1, state: "running" });

    const response = anAnswer(200, { body: "thanks" });
    await failureTold(ports, await messageOf("f"), told(ports, { response }));

    expect(await functionOf()).toEqual({ round: 1, state: "succeeded" });
    const part = await ports.runs.part(await current(ports), "r");
    expect(JSON.parse(new TextDecoder().decode(part?.body))).toMatchObject({
      status: 200,
      body: Buffer.from("thanks").toString("base64"),
    });
    expect(await restartFailureFunction(ports, await current(ports))).toMatchObject({
      fault: "malformed",
    });
  });

  it("that has failed fails nothing again, and is called once more on request", async () => {
    const { functionOf, messageOf, ports } = await failing();
    await failureTold(ports, await messageOf("f"), told(ports, broken));
    expect(await functionOf()).toEqual({ round: 1, state: "failed" });
    expect(await ports.runs.part(await current(ports), "f2")).toBeUndefined();

    expect(await restartFailureFunction(ports, await current(ports))).toBeUndefined();
    const [first, second] = [await messageOf("f"), await messageOf("f2")];
    expect(second).toMatchObject({
      ...{ url: first.url, headers: first.headers, body: first.body, policy: first.policy },
      run: { part: "f2" },
    });
    expect(await functionOf()).toEqual({ round: 2, state: "running" });
    // A round that is over changes nothing.
    await failureTold(ports, first, told(ports));
    expect(await functionOf()).toEqual({ round: 2, state: "running" });
    await failureTold(ports, second, told(ports));
    expect(await functionOf()).toEqual({ round: 2, state: "succeeded" });
  });

  it("that is cancelled is delivered no more, and may be requested again", async () => {
    const { functionOf, messageOf, ports } = await failing();
    const { run: inRun } = await messageOf("f");
    if (!inRun) throw new Error("it is a run's");
    const brief = () => ports.runs.brief([{ run: inRun, epoch: 1, from: 0 }]);
    expect(await brief()).toEqual(["wanted"]);

    expect(await cancelFunction(ports, await current(ports))).toBe(true);
    expect(await brief()).toEqual(["unwanted"]);
    expect(await cancelFunction(ports, await current(ports))).toBe(false);
    expect(await functionOf()).toEqual({ round: 1, state: "canceled" });
    expect(await restartFailureFunction(ports, await current(ports))).toBeUndefined();
    expect(await functionOf()).toEqual({ round: 2, state: "running" });
  });

  it("is not called again for a run that has none", async () => {
    const { messageOf, ports } = await opened(aPolicy());
    await failDelivered(ports, await messageOf(), failed(ports));

    expect(await restartFailureFunction(ports, await current(ports))).toMatchObject({
      fault: "malformed",
    });
    expect(await cancelFunction(ports, await current(ports))).toBe(false);
  });
});

function failureOf(run: Pick<Run, "state"> | undefined) {
  const state = run?.state;
  if (state?.kind !== "failed") throw new Error(`the run is ${state?.kind}`);
  return state.failure;
}
