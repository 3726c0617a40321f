import { describe, expect, it } from "@jest/globals";
import { isFault, limits, type Run, runId, runMessageId, type StepKey } from "@posthaste/domain";
import { type Decision, StoreError } from "@posthaste/ports";
import { aRunId, aStartCommand, aStepCommand, aTenant } from "@posthaste/testing";
import { type Published } from "../publish/accept.ts";
import { aLocalDelivery, listen, open, type Ports, readIn, rest } from "../opened.fixture.ts";
import { appendSteps } from "./append.ts";
import { endRun } from "./end.ts";
import { type RunPorts, startRun } from "./start.ts";

const address = { tenant: aTenant, id: aRunId };
const result = (step: number): StepKey => ({ role: "result", step });
const plan = (step: number): StepKey => ({ role: "plan", step });

async function opened(): Promise<Ports> {
  const ports = open();
  await startRun(ports, aStartCommand());
  return ports;
}

const steps = (keys: readonly StepKey[]) => keys.map((key) => aStepCommand(key));

async function append(ports: RunPorts, keys: readonly StepKey[]): Promise<readonly Published[]> {
  const done = await appendSteps(ports, steps(keys));
  if (isFault(done)) throw new Error(done.text);
  return done;
}

async function current({ runs }: Ports): Promise<Run> {
  const run = await runs.get(address);
  if (!run) throw new Error("there is a run");
  return run;
}

describe("steps of a run", () => {
  it("are delivered under ids of their run, and their bodies are its history", async () => {
    const ports = await opened();
    const heard = await listen(ports);

    const published = await append(ports, [plan(1), plan(2)]);
    await rest(ports);

    const run = await current(ports);
    const ids = ["p1", "p2"].map((part) => runMessageId(run.root, part));
    expect(published.map(({ deduplicated, messageId }) => [messageId, deduplicated])).toEqual(
      ids.map((id) => [id, false]),
    );
    expect(heard.due.map(({ id }) => id)).toEqual(ids);
    const history = await ports.runs.history(run, 0);
    expect(history.map(({ messageId }) => messageId)).toEqual([run.root, ...ids]);
    expect(history.slice(1).map(({ body }) => body)).toEqual(
      steps([plan(1), plan(2)]).map(({ body }) => body),
    );
  });

  it("that are repeated have the first's ids, make no record, and give their slots back", async () => {
    const ports = await opened();
    const first = await append(ports, [result(1)]);
    const before = await current(ports);
    const backlog = await ports.records.backlog(aTenant);
    const heard = await listen(ports);
    const local = aLocalDelivery(2);

    const second = await append({ ...ports, local }, [result(1)]);
    await rest(ports);

    expect(second).toEqual(first.map((each) => ({ ...each, deduplicated: true })));
    expect(await current(ports)).toEqual(before);
    expect(await ports.records.backlog(aTenant)).toBe(backlog);
    expect({ due: heard.due, ran: local.ran.length, taken: local.taken }).toEqual({
      due: [],
      ran: 0,
      taken: 0,
    });
  });

  it("count once each if a batch repeats a step, or a step of the run", async () => {
    const ports = await opened();
    await append(ports, [result(1)]);
    const local = aLocalDelivery(10);

    const published = await append({ ...ports, local }, [result(1), plan(2), plan(2), plan(3)]);

    expect(published.map(({ deduplicated }) => deduplicated)).toEqual([true, false, true, false]);
    expect(local.ran.map(({ message: { run } }) => run?.part)).toEqual(["p2", "p3"]);
    expect(local.taken).toBe(2);
  });

  it("many times at once are accepted once", async () => {
    const ports = await opened();
    const local = aLocalDelivery(100);

    const all = await Promise.all(
      Array.from({ length: 50 }, () => append({ ...ports, local }, [result(1)])),
    );

    expect(all.flat().filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 1, taken: 1 });
    expect((await current(ports)).history.length).toBe(2);
  });

  it("of one batch are all accepted, or none is", async () => {
    const ports = await opened();
    const before = await current(ports);
    const local = aLocalDelivery(2);
    const keys = [result(1), result(limits.runStepsMax + 1)];

    expect(await appendSteps({ ...ports, local }, steps(keys))).toMatchObject({
      fault: "run_refused",
      text: expect.stringContaining(String(limits.runStepsMax)),
    });

    expect(await current(ports)).toEqual(before);
    expect(await ports.runs.part(before, "s1")).toBeUndefined();
    expect(await ports.records.backlog(aTenant)).toBe(1);
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
  });

  it("run here as far as there are slots, and the others are announced", async () => {
    const ports = await opened();
    const heard = await listen(ports);
    const local = aLocalDelivery(2);

    await append({ ...ports, local }, [plan(1), plan(2), plan(3)]);
    await rest(ports);

    const run = await current(ports);
    const [p1, p2, p3] = ["p1", "p2", "p3"].map((part) => runMessageId(run.root, part));
    expect(local.ran.map(({ message: { id } }) => id)).toEqual([p1, p2]);
    expect(heard.due.map(({ id }) => id)).toEqual([p3]);
    for (const id of [p1, p2])
      await readIn(ports, { id: id ?? run.root, tenant: aTenant }, "claimed");
  });

  const away = new StoreError("unavailable", "the store is away");
  it.each<[string, (decide: () => unknown, decideEnded: () => unknown) => unknown]>([
    ["fails", () => Promise.reject(away)],
    ["fails once it is decided", (decide) => (decide(), Promise.reject(away))],
    [
      "is decided again, of a run that has ended",
      (decide, decideEnded) => (decide(), decideEnded()),
    ],
    ["finds no run once it is decided", (decide) => void decide()],
  ])("whose change %s give their slots back, and are not announced", async (_, end) => {
    const ports = await opened();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);
    const run = await current(ports);
    const state = { kind: "canceled", endedAt: 0, pending: [] } as const;
    const change: Ports["runs"]["change"] = async <V>(
      _: unknown,
      decide: (run: Run) => Decision<V>,
    ) =>
      (await end(
        () => decide(run).verdict,
        () => decide({ ...run, state }).verdict,
      )) as V | undefined;

    await append({ ...ports, local, runs: { ...ports.runs, change } }, [result(1)]).catch(() => []);
    await rest(ports);

    expect({ due: heard.due, ran: local.ran.length, taken: local.taken }).toEqual({
      due: [],
      ran: 0,
      taken: 0,
    });
  });

  it("of a run that has ended, or never was, are refused in the words that clients know", async () => {
    const ports = await opened();
    const { createdAt } = await current(ports);
    await endRun(ports, address);
    await startRun(ports, aStartCommand());
    const local = aLocalDelivery(1);
    const [step] = steps([result(1)]);
    if (!step) throw new Error("there is one");
    const unknown = { ...step, run: { ...step.run, id: runId("unknown") } };
    const ended = { ...step, run: { ...step.run, createdAt } };

    for (const command of [unknown, ended])
      expect(await appendSteps({ ...ports, local }, [command])).toEqual({
        fault: "run_ended",
        text: "failed to publish to url: can not append to a a cancelled workflow",
      });
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
    expect((await current(ports)).reached).toBe(0);
  });
});
