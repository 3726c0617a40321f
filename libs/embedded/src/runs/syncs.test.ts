import { expect, it } from "@jest/globals";
import {
  acceptClaimed,
  append,
  entryMessage,
  type InState,
  isActive,
  type MessageRecord,
  owner,
  partOf,
  type Run,
  settleAttempt,
  type StepKey,
  usualDelivery,
} from "@posthaste/domain";
import { anAnswer, aPolicy, aRun, aRunId, aTenant } from "@posthaste/testing";
import { newDirectory, openIn, type Opened } from "../opened.fixture.ts";

const body = new TextEncoder().encode('{"stepId":1}');
const by = owner("gateway");

function opened() {
  const syncs = { count: 0 };
  const sync = {
    run: async () => {
      syncs.count += 1;
      await new Promise(setImmediate);
    },
    runNow: () => undefined,
    close: () => undefined,
  };
  return { store: openIn(newDirectory(), { sync }), syncs };
}

const claimed = (run: Run, key: StepKey | { readonly role: "start" }, now: number) =>
  acceptClaimed(entryMessage(run, key, usualDelivery(run), now), by, now);

async function started({ clock, ids, runs }: Opened): Promise<MessageRecord> {
  const plan = { features: [], headers: [], policy: aPolicy() };
  let record: MessageRecord | undefined;
  await runs.start(aTenant, aRunId, "new", ({ generation }) => {
    const run = aRun({ root: ids.next(), generation, plan });
    record = claimed(run, { role: "start" }, clock.now());
    const part = { name: "start", at: clock.now(), body, rank: 0 };
    return { run, parts: [part], deliveries: [record] };
  });
  if (!record) throw new Error("it was started");
  return record;
}

async function joined({ clock, runs }: Opened, step: number): Promise<MessageRecord> {
  const key = { role: "result", step } as const;
  const record = await runs.change({ tenant: aTenant, id: aRunId }, (run) => {
    const appended = isActive(run) ? append(run, [key]) : undefined;
    if (appended?.kind !== "appended") throw new Error("it is active");
    const delivery = claimed(appended.run, key, clock.now());
    const part = { name: partOf(key), at: clock.now(), body, rank: run.history.length };
    return {
      verdict: delivery,
      write: { run: appended.run, parts: [part], deliveries: [delivery] },
    };
  });
  if (!record) throw new Error("it is there");
  return record;
}

async function answered({ clock, records }: Opened, record: MessageRecord): Promise<void> {
  const now = clock.now();
  const outcome = anAnswer(200, { headers: [["Upstash-Workflow-Sdk-Version", "1"]] });
  const attempt = { startedAt: now, endedAt: now, outcome };
  const inputs = { chance: 0, retryDelayMs: undefined };
  const [settled] = await records.settle([
    settleAttempt(record as InState<"claimed">, attempt, inputs),
  ]);
  expect(settled?.kind).toBe("ok");
}

it("a step in sequence waits for the disk once: for its result, and not for the end of its delivery", async () => {
  const { store, syncs } = opened();
  const before = syncs.count;
  let delivery = await started(store);
  const ends: Promise<void>[] = [];
  const steps = 20;
  for (let step = 1; step <= steps; step++) {
    const next = await joined(store, step);
    ends.push(answered(store, delivery));
    delivery = next;
  }
  await store.clock.advance(20);
  await Promise.all(ends);

  expect(syncs.count - before).toBe(1 + steps);
});
