import { describe, expect, it } from "@jest/globals";
import {
  deduplicationKeys,
  finish,
  isActive,
  isFault,
  isHeld,
  limits,
  owner,
  type Run,
  runId,
  settleUnwanted,
} from "@posthaste/domain";
import { headAlone, type RunStore, StoreError } from "@posthaste/ports";
import { aPolicy, aRunId, aStartCommand, aStepCommand, aTenant, newId } from "@posthaste/testing";
import { type Published } from "../publish/accept.ts";
import {
  aLocalDelivery,
  gate,
  listen,
  open,
  type Ports,
  read,
  readIn,
  rest,
} from "../opened.fixture.ts";
import { appendSteps, runEnded } from "./append.ts";
import { placeCall } from "./call.ts";
import { endOwnRun, endRun, finishRun } from "./end.ts";
import { invoke } from "./invoke.ts";
import { startRun, beginHeld } from "./start.ts";
import { placeWait } from "./waits.ts";

const address = { tenant: aTenant, id: aRunId };

async function start(
  ports: Parameters<typeof startRun>[0],
  overrides: Parameters<typeof aStartCommand>[0] = {},
): Promise<Published> {
  const answer = await startRun(ports, aStartCommand(overrides));
  if (isFault(answer)) throw new Error(answer.text);
  return answer;
}

const withStart = (ports: Ports, begin: RunStore["start"]): Ports => ({
  ...ports,
  runs: { ...ports.runs, start: begin },
});

const inPhase = (phase: "probes" | "adopts") => ({
  run: { kind: "start", id: aRunId, features: [], headers: [], phase } as const,
});

describe("starting a run in two phases", () => {
  it.each(["before its endpoint has started it", "after it"])(
    "does not begin a run again that has ended %s",
    async (when) => {
      const ports = open();
      await start(ports, inPhase("probes"));
      if (when === "after it") await start(ports, inPhase("adopts"));
      await endRun(ports, address);

      const late = await start(ports, inPhase("adopts"));

      expect(late.deduplicated).toBe(true);
      expect(await ports.runs.get(address)).toMatchObject({
        generation: 1,
        state: { kind: "canceled" },
      });
    },
  );

  it("begins another run when the first request of the ended run is over", async () => {
    const ports = open();
    const policy = aPolicy({ timeoutMs: 5_000 });
    await start(ports, { ...inPhase("probes"), policy });
    await endRun(ports, address);
    await ports.clock.advance(5_000);

    const next = await start(ports, inPhase("adopts"));

    expect(next.deduplicated).toBe(false);
    expect(await ports.runs.get(address)).toMatchObject({ generation: 2 });
  });
});

describe("starting a run", () => {
  it("answers nothing, hands over nothing and says nothing before the head is written", async () => {
    const ports = open();
    const { open: letGo, opened } = gate();
    const held = withStart(ports, async (...given) => {
      const started = await ports.runs.start(...given);
      await opened;
      return started;
    });
    const heard = await listen(ports);
    const local = aLocalDelivery(1);
    let answered = 0;

    const starting = start({ ...held, local }).then(() => answered++);
    await rest(ports);
    expect({ answered, ran: local.ran.length, due: heard.due.length }).toEqual({
      answered: 0,
      ran: 0,
      due: 0,
    });

    letGo();
    await starting;
    await rest(ports);
    expect({ answered, ran: local.ran.length }).toEqual({ answered: 1, ran: 1 });
  });

  it("hands its first delivery over to the slot that was kept for it, claimed", async () => {
    const ports = open();
    const heard = await listen(ports);
    const local = aLocalDelivery(1);

    const { deduplicated, messageId } = await start({ ...ports, local });
    await rest(ports);

    expect(deduplicated).toBe(false);
    const { epoch, state } = await readIn(ports, { id: messageId, tenant: aTenant }, "claimed");
    expect([epoch, state.owner]).toEqual([1, local.owner]);
    expect(local.ran.map(({ message }) => message.id)).toEqual([messageId]);
    expect(heard.due).toEqual([]);
  });

  it("announces its first delivery if no slot is free", async () => {
    const ports = open();
    const heard = await listen(ports);

    const { messageId } = await start({ ...ports, local: aLocalDelivery(0) });
    await rest(ports);

    expect(heard.due.map(({ id }) => id)).toEqual([messageId]);
    await readIn(ports, { id: messageId, tenant: aTenant }, "due");
  });

  it("of an id that is active changes nothing, and gives the slot back", async () => {
    const ports = open();
    const first = await start(ports);
    const local = aLocalDelivery(1);
    const before = await ports.runs.get(address);

    const second = await start({ ...ports, local }, { body: new Uint8Array(1) });

    expect(second).toEqual({ ...first, deduplicated: true });
    expect(await ports.runs.get(address)).toEqual(before);
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
    expect(await ports.records.backlog(aTenant)).toBe(1);
  });

  it("that fails gives the slot back, and runs nothing", async () => {
    const ports = open();
    const local = aLocalDelivery(1);
    const away = () => Promise.reject(new StoreError("unavailable", "the store is away"));

    await expect(start({ ...withStart(ports, away), local })).rejects.toThrow("away");

    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
  });

  it("whose first delivery is for later gives the slot back", async () => {
    const ports = open();
    const local = aLocalDelivery(1);
    const postponement = { kind: "delay", delayMs: 60_000 } as const;

    const { messageId } = await start({ ...ports, local }, { postponement });

    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
    const { state } = await readIn(ports, { id: messageId, tenant: aTenant }, "held");
    expect(state.dueAt).toBe(ports.clock.now() + 60_000);
  });

  it("of an id whose run has ended is another run, made later", async () => {
    const ports = open();
    const first = await start(ports);
    const before = await ports.runs.get(address);
    await endRun(ports, address);

    const second = await start(ports);

    expect(second).toMatchObject({ deduplicated: false });
    expect(second.messageId).not.toBe(first.messageId);
    const after = await ports.runs.get(address);
    expect(after?.generation).toBe(2);
    expect(after?.createdAt).toBeGreaterThan(before?.createdAt ?? Infinity);
  });

  it("many times at once is one start, and one delivery", async () => {
    const ports = open();
    const local = aLocalDelivery(100);

    const all = await Promise.all(Array.from({ length: 50 }, () => start({ ...ports, local })));
    await rest(ports);

    expect(all.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
    expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1);
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 1, taken: 1 });
  });

  it("keeps the headers that all its deliveries have", async () => {
    const ports = open();
    const { messageId } = await start(ports, {
      run: { kind: "start", id: aRunId, features: [], headers: [["X-User", "1"]] },
    });

    const run = await ports.runs.get(address);
    expect(run?.plan.headers).toEqual([["X-User", "1"]]);
    const record = await read(ports, { id: messageId, tenant: aTenant });
    expect(record?.message.headers).toContainEqual(["X-User", "1"]);
    expect(record?.message.body).toHaveLength(0);
  });
});

describe("starting a run with a deduplication id", () => {
  const named = (id: string) => ({
    deduplication: { kind: "explicit", id: "order-17" } as const,
    run: { kind: "start", id: runId(id), features: [], headers: [] } as const,
  });

  it("begins one run for any ids of the starts, also when it has ended", async () => {
    const ports = open();
    const first = await start(ports, named("one"));
    const second = await start(ports, named("two"));
    await ports.runs.change({ tenant: aTenant, id: runId("one") }, (run) => {
      const next = isActive(run) ? finish(run, ports.clock.now()) : undefined;
      return { verdict: true, ...(next && { write: headAlone(next) }) };
    });
    const third = await start(ports, named("three"));

    expect(first.deduplicated).toBe(false);
    for (const later of [second, third]) expect(later).toEqual({ ...first, deduplicated: true });
    for (const id of ["two", "three"])
      expect(await ports.runs.get({ tenant: aTenant, id: runId(id) })).toBeUndefined();
  });

  it("begins another run once the first was cancelled", async () => {
    const ports = open();
    const first = await start(ports, named("one"));
    await endRun(ports, { tenant: aTenant, id: runId("one") });

    const second = await start(ports, named("two"));
    const third = await start(ports, named("three"));

    expect(second.deduplicated).toBe(false);
    expect(second.messageId).not.toBe(first.messageId);
    expect(third).toEqual({ ...second, deduplicated: true });
  });

  it("begins one run, however many start it at once", async () => {
    const ports = open();
    const starting = Array.from({ length: 20 }, (_, n) => start(ports, named(`run-${n}`)));
    await ports.clock.advance(limits.deduplicationPendingMs);
    const all = await Promise.all(starting);

    expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1);
    expect(all.filter(({ deduplicated }) => !deduplicated)).toHaveLength(1);
  });

  it("starts under the root of a gateway that died before its start", async () => {
    const ports = open();
    const command = aStartCommand(named("one"));
    const [key] = deduplicationKeys(command, [], ports.sha256);
    const root = newId();
    if (key !== undefined) await ports.tokens.claim([{ key, id: root }]);

    const starting = start(ports, named("one"));
    await ports.clock.advance(limits.deduplicationPendingMs);

    expect(await starting).toMatchObject({ messageId: root, deduplicated: false });
    expect(await start(ports, named("two"))).toMatchObject({ messageId: root, deduplicated: true });
  });

  it("answers with the run that is active under its name, and keeps the window for none", async () => {
    const ports = open();
    const active = await start(ports, { run: named("one").run });

    expect(await start(ports, named("one"))).toEqual({ ...active, deduplicated: true });
  });
});

describe("a use of an id that begins while a delivery of the one before is under way", () => {
  async function current(ports: Ports): Promise<Run> {
    const run = await ports.runs.get(address);
    if (!run) throw new Error("there is no run");
    return run;
  }

  /** Cancels the first use while it is being delivered, and uses the id again. */
  async function usedAgain() {
    const ports = open();
    await start(ports);
    const first = await current(ports);
    const [claimed] = await ports.records.claim([first.root], owner("deliverer"));
    if (!claimed) throw new Error("it was not claimed");
    await endRun(ports, address);
    await start(ports);
    return { ports, first, claimed, second: await current(ports) };
  }

  const step = aStepCommand({ role: "result", step: 1 });
  const theirs: readonly [string, (ports: Ports) => Promise<unknown>][] = [
    ["a step", (ports) => appendSteps(ports, [step])],
    ["a plan", (ports) => appendSteps(ports, [aStepCommand({ role: "plan", step: 1 })])],
    [
      "a wait",
      (ports) =>
        placeWait(ports, {
          ...{ command: step, event: "e", timeoutMs: 1_000, step: { stepId: 1 } },
          waiter: { url: "https://endpoint.example/workflow", headers: {} },
        }),
    ],
    [
      "a call",
      (ports) => placeCall(ports, { ...step, run: { kind: "call", id: aRunId, step: 1 } }),
    ],
    [
      "an invocation",
      (ports) => {
        const child = { kind: "start", id: runId("child"), features: [], headers: [] } as const;
        const run = { kind: "invoke", child, answer: step, step: { stepId: 1 } } as const;
        return invoke(ports, { ...step, run });
      },
    ],
    ["its end", (ports) => finishRun(ports, address, new Uint8Array(0))],
    ["a cancel by its endpoint", (ports) => endOwnRun(ports, address)],
  ];

  it.each(theirs)("takes nothing of what that says: %s", async (_, say) => {
    const { ports, second } = await usedAgain();

    const said = await say(ports);

    expect(said === "before" || said).toEqual(said === "before" || runEnded());
    expect(await current(ports)).toEqual(second);
  });

  it("matches filters by its time, and a cancel by hand", async () => {
    const { ports, second } = await usedAgain();
    const { createdAt } = second;

    const named = { ...step, run: { ...step.run, createdAt } };
    expect(await appendSteps(ports, [named])).toHaveLength(1);
    expect(await endRun(ports, address)).toBe("now");
  });

  it("begins when that is over, and not before", async () => {
    const { ports, first, claimed, second } = await usedAgain();
    const behind = { key: first.key, root: first.root };
    expect(isHeld(second)).toBe(true);
    expect(await beginHeld(ports, second, behind)).toBe(false);

    const settled = ports.records.settle([settleUnwanted(claimed, ports.clock.now())]);

    expect(await beginHeld(ports, second, behind)).toBe(true);
    await settled;
    expect(isHeld(await current(ports))).toBe(false);
    expect(await appendSteps(ports, [step])).toHaveLength(1);
  });

  it("is not held if no delivery of the earlier use is under way", async () => {
    const ports = open();
    await start(ports);
    await endRun(ports, address);
    await start(ports);

    expect(isHeld(await current(ports))).toBe(false);
  });
});
