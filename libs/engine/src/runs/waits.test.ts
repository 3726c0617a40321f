import { describe, expect, it } from "@jest/globals";
import { isActive, type Run, runId, type RunId } from "@posthaste/domain";
import { anotherTenant, aRunId, aStartCommand, aStepCommand, aTenant } from "@posthaste/testing";
import { allOf, listen, open, type Ports, rest } from "../opened.fixture.ts";
import { startRun } from "./start.ts";
import { waitersOf, placeWait } from "./waits.ts";
import { hookRun, type Notified, notify, notifyRun, timeOutWaits } from "./notify.ts";

const event = "order.paid";
const minute = 60_000;

async function opened(...ids: readonly RunId[]): Promise<Ports> {
  const ports = open();
  for (const id of ids.length > 0 ? ids : [aRunId])
    await startRun(ports, aStartCommand({ run: { kind: "start", id, features: [], headers: [] } }));
  return ports;
}

const wait = (ports: Ports, step: number, id = aRunId, stepType = "Wait") =>
  placeWait(ports, {
    command: aStepCommand({ role: "result", step }, { id }),
    event,
    timeoutMs: minute,
    step: { stepId: step, stepType },
    waiter: { url: "https://endpoint.example/workflow", headers: {} },
  });

const said = (text: string): Uint8Array => new TextEncoder().encode(text);
const tell = (ports: Ports, text: string, tenant = aTenant) =>
  allOf(notify(ports, tenant, event, said(text)));
const waiters = (ports: Ports) => allOf(waitersOf(ports, aTenant, event));

async function current({ runs }: Ports, id = aRunId): Promise<Run> {
  const run = await runs.get({ tenant: aTenant, id });
  if (!run) throw new Error(`${id} is not there`);
  return run;
}

async function resultOf(ports: Ports, step: number, id = aRunId): Promise<unknown> {
  const part = await ports.runs.part(await current(ports, id), `s${step}`);
  return part && JSON.parse(new TextDecoder().decode(part.body));
}

const ofEvent = (step: number, text: string) => ({
  stepId: step,
  stepType: "Wait",
  waitEventId: event,
  out: Buffer.from(text).toString("base64"),
});

async function noted(ports: Ports, text: string): Promise<readonly Notified[]> {
  const done = await notifyRun(ports, await current(ports), event, said(text), true);
  if (typeof done === "string") throw new Error(done);
  return done;
}

describe("an event", () => {
  it("is the result of the step that waits for it, which is delivered once", async () => {
    const ports = await opened();
    await wait(ports, 1);
    expect(await waiters(ports)).toHaveLength(1);

    expect(await tell(ports, "first")).toHaveLength(1);
    expect(await tell(ports, "second")).toEqual([]);

    expect(await resultOf(ports, 1)).toEqual(ofEvent(1, "first"));
    expect(await waiters(ports)).toEqual([]);
  });

  it("that is waited for wakes the scheduler of its run at the deadline", async () => {
    const ports = await opened();
    const { wakes } = await listen(ports);

    await wait(ports, 1);
    await rest(ports);

    const { shard } = await current(ports);
    expect(wakes).toContainEqual({ shard, at: ports.clock.now() + minute, source: "run" });
  });

  it("ends the waits of fewer runs at a time the larger it is", async () => {
    const ports = await opened();
    const atOnce: number[] = [];
    const waiting: Ports["runs"]["waiting"] = (tenant, named, after, limit) => {
      atOnce.push(limit);
      return ports.runs.waiting(tenant, named, after, limit);
    };
    const watched = { ...ports, runs: { ...ports.runs, waiting } };

    for (const bytes of [10, 1024 * 1024, 64 * 1024 * 1024])
      await allOf(notify(watched, aTenant, event, new Uint8Array(bytes)));

    expect(atOnce).toEqual([100, 7, 1]);
  });

  it("of another tenant ends no wait", async () => {
    const ports = await opened();
    await wait(ports, 1);

    expect(await tell(ports, "theirs", anotherTenant)).toEqual([]);
    expect(await resultOf(ports, 1)).toBeUndefined();
  });

  it("is the only one of many at once that ends the wait, and that reports it", async () => {
    const ports = await opened();
    await wait(ports, 1);

    const told = await Promise.all(Array.from({ length: 20 }, (_, i) => tell(ports, `${i}`)));

    expect(told.flat()).toHaveLength(1);
    const winner = told.findIndex(({ length }) => length === 1);
    expect(await resultOf(ports, 1)).toEqual(ofEvent(1, `${winner}`));
  });

  it("ends the waits of all runs, however many they are", async () => {
    const ids = Array.from({ length: 130 }, (_, i) => runId(`run-${i}`));
    const ports = await opened(...ids);
    for (const id of ids) await wait(ports, 1, id);

    const told = await tell(ports, "all");

    expect(new Set(told.map(({ run }) => run.id))).toEqual(new Set(ids));
    expect(told).toHaveLength(ids.length);
  });

  it("that came for a run before its waits is theirs, in order, each once", async () => {
    const ports = await opened();
    for (const text of ["first", "second"]) expect(await noted(ports, text)).toEqual([]);

    for (const step of [1, 2, 3]) await wait(ports, step);

    expect(await resultOf(ports, 1)).toEqual(ofEvent(1, "first"));
    expect(await resultOf(ports, 2)).toEqual(ofEvent(2, "second"));
    expect(await resultOf(ports, 3)).toBeUndefined();
    const run = await current(ports);
    const waits = await Promise.all([1, 2, 3].map((step) => ports.runs.part(run, `w${step}`)));
    expect(waits).not.toContain(undefined);
    expect(await noted(ports, "third")).toHaveLength(1);
    expect(await resultOf(ports, 3)).toEqual(ofEvent(3, "third"));
  });

  it("for a run is lost for no other event at the same time", async () => {
    const ports = await opened();
    const texts = Array.from({ length: 10 }, (_, i) => `${i}`);

    await Promise.all(texts.map((text) => noted(ports, text)));
    for (const [i] of texts.entries()) await wait(ports, i + 1);

    const results = await Promise.all(texts.map((_, i) => resultOf(ports, i + 1)));
    const outs = results.map((each) => JSON.stringify(each));
    for (const text of texts)
      expect(outs.filter((each) => each.includes(`"${btoa(text)}"`))).toHaveLength(1);
  });
});

describe("a webhook", () => {
  const hook = async (ports: Ports, text: string) =>
    hookRun(ports, await current(ports), event, said(text));

  it("ends no wait for an event, and an event none for a webhook, whichever comes first", async () => {
    const ports = await opened();
    for (const step of [1, 2])
      await wait(ports, step, aRunId, step === 1 ? "Wait" : "WaitForWebhook");

    expect(await hook(ports, "hooked")).toMatchObject([
      { messageId: expect.stringMatching(/_rs2$/) },
    ]);
    expect(await hook(ports, "kept")).toEqual([]);
    expect(await noted(ports, "told")).toMatchObject([
      { messageId: expect.stringMatching(/_rs1$/) },
    ]);
    expect(await noted(ports, "kept, too")).toEqual([]);

    for (const step of [3, 4])
      await wait(ports, step, aRunId, step === 3 ? "Wait" : "WaitForWebhook");
    expect(await resultOf(ports, 3)).toEqual(ofEvent(3, "kept, too"));
    expect(await resultOf(ports, 4)).toMatchObject({ out: btoa("kept") });
  });

  it("that a run keeps does not use up the bound of events", async () => {
    const ports = await opened();
    let kept = 0;
    while ((await hook(ports, "x")) !== "full") kept += 1;

    expect(kept).toBe(100);
    expect(await noted(ports, "mine")).toEqual([]);
  });
});

describe("a wait", () => {
  it("that is requested again is the first one", async () => {
    const ports = await opened();
    await wait(ports, 1);
    const before = await current(ports);

    expect(await wait(ports, 1)).toBeUndefined();
    expect(await current(ports)).toEqual(before);
  });

  it("ends when its time is up, and then by no event", async () => {
    const ports = await opened();
    await wait(ports, 1);
    const run = await current(ports);
    await ports.clock.advance(minute - 1);
    await timeOutWaits(ports, run);
    expect(await resultOf(ports, 1)).toBeUndefined();

    await ports.clock.advance(1);
    await timeOutWaits(ports, run);

    const result = { stepId: 1, stepType: "Wait", waitEventId: event, waitTimeout: true };
    expect(await resultOf(ports, 1)).toEqual(result);
    expect(await tell(ports, "late")).toEqual([]);
    expect(await resultOf(ports, 1)).toEqual(result);
  });

  it("ends once, by an event or by its time, whichever is first", async () => {
    const ports = await opened();
    await wait(ports, 1);
    const run = await current(ports);
    await ports.clock.advance(minute);

    const [told] = await Promise.all([tell(ports, "event"), timeOutWaits(ports, run)]);

    expect("out" in Object(await resultOf(ports, 1))).toBe(told.length === 1);
    expect((await current(ports)).history.length).toBe(2);
  });

  it("of a run that has ended, or never was, is refused in the words that clients know", async () => {
    const ports = await opened();

    expect(await wait(ports, 1, runId("unknown"))).toMatchObject({ fault: "run_ended" });
    expect(isActive(await current(ports))).toBe(true);
  });
});
