import { describe, expect, it } from "@jest/globals";
import {
  dlqIdOf,
  messageId,
  newOrder,
  type PartName,
  type Run,
  type RunAttempt,
  runId,
  runKey,
  type RunPart,
  type RunState,
  tenantId,
  usualDelivery,
} from "@posthaste/domain";
import { runEvents } from "./run-events.ts";
import { atOnce } from "../bodies/pause.ts";
import { shownAttempt, shownParts } from "./shown-part.ts";

const start = 1_767_225_600_000;
const root = messageId("msg_00000000000000000000000001");
const tenant = tenantId("tenant1");
const noSha = (): string => "hash";

const aRun = (overrides: Partial<Run>): Run => ({
  ...{ key: runKey(tenant, runId("run"), 1), id: runId("run"), generation: 1, root },
  ...{ tenant, dialect: "service", shard: 0, url: "https://a.example/" },
  ...{
    callerIp: "10.0.0.1",
    createdAt: start,
    history: newOrder,
    bytes: 0,
    reached: 0,
    version: 1,
  },
  state: { kind: "active", pending: [], notes: [] },
  plan: { features: [], headers: [], policy: { timeoutMs: 1, retriesMax: 3, labels: ["a", "b"] } },
  ...overrides,
});

const part = (name: PartName, after: number, json: object = {}): readonly [PartName, RunPart] => [
  name,
  { name, at: start + after, body: new TextEncoder().encode(JSON.stringify(json)) },
];

const retried = (of: PartName, after: number): RunAttempt => ({
  part: of,
  fact: {
    ...{ kind: "fact", id: root, attempt: 0, startedAt: start, ended: "retry" },
    endedAt: start + after,
    response: { status: 503, headers: [], body: new Uint8Array(0), truncated: false },
  },
});

const outline = (
  run: Run,
  parts: readonly (readonly [PartName, RunPart])[],
  attempts: readonly RunAttempt[] = [],
) => {
  const { add, shown } = shownParts(run, { sha256: noSha });
  for (const [, each] of parts) atOnce(add(each));
  const reading = {
    ...{ run, parts: shown, progress: new Map() },
    attempts: attempts.map((attempt) => shownAttempt(run, attempt, { sha256: noSha })),
  };
  return runEvents(reading, { sha256: noSha })
    .toReversed()
    .map(({ event: { state, stepInfo, time } }) =>
      [time - start, stepInfo?.stepId ?? stepInfo?.stepName ?? "", state]
        .join(" ")
        .replace("  ", " "),
    );
};

const failure: RunState = {
  ...{ kind: "failed", endedAt: start + 90, pending: [], notes: [] },
  failure: {
    ...{ dlqId: dlqIdOf(root, start + 90), at: "p2", inDlq: true, status: 500 },
    reason: "retries_exhausted",
  },
};

describe("the events of a run", () => {
  it("show its start, each step with its failed attempts, and its end, in the order of time", () => {
    const history = { spans: [{ role: "result", from: 1, to: 2 } as const], length: 3 };
    const run = aRun({
      history,
      reached: 2,
      state: { kind: "succeeded", endedAt: start + 40, pending: [] },
    });
    const parts = [
      part("s1", 20, { stepId: 1 }),
      part("c2", 25),
      part("s2", 30, { stepId: 2, stepType: "Call" }),
    ];

    expect(outline(run, parts, [retried("start", 10), retried("c2", 27)])).toEqual([
      "0 RUN_STARTED",
      "0 init STEP_SUCCESS",
      "10 1 STEP_RETRY",
      "20 1 STEP_SUCCESS",
      "25 2 STEP_PROGRESS",
      "27 2 STEP_RETRY",
      "30 2 STEP_SUCCESS",
      "40 RUN_SUCCESS",
    ]);
  });

  it("show which member of a group has failed its run, and which ones that cut short", () => {
    const history = { spans: [{ role: "plan", from: 1, to: 2 } as const], length: 3 };
    const parts = [part("p1", 10, { stepId: 0 }), part("p2", 10, { stepId: 0 })];

    expect(outline(aRun({ history, reached: 2, state: failure }), parts)).toEqual([
      "0 RUN_STARTED",
      "0 init STEP_SUCCESS",
      "10 1 STEP_PROGRESS",
      "10 2 STEP_PROGRESS",
      "90 1 STEP_CANCELED",
      "90 2 STEP_FAILED",
      "90 RUN_FAILED",
    ]);
  });

  it("show a sleep when it began and when its time was up", () => {
    const history = { spans: [{ role: "result", from: 1, to: 1 } as const], length: 2 };
    const end = { kind: "succeeded", endedAt: start + 90, pending: [] } as const;
    const run = aRun({ history, reached: 1, state: end });
    const [name, sleep] = part("s1", 20, { stepId: 1, stepType: "SleepFor", sleepFor: 0.05 });
    const sent = { ...usualDelivery(run), notBefore: start + 70 };

    expect(outline(run, [[name, { ...sleep, sent }]])).toEqual([
      "0 RUN_STARTED",
      "0 init STEP_SUCCESS",
      "20 1 STEP_PROGRESS",
      "70 1 STEP_SUCCESS",
      "90 RUN_SUCCESS",
    ]);
  });

  it("have places of their own, by which they are sorted", () => {
    const run = aRun({ state: { kind: "canceled", endedAt: start, pending: [] } });
    const reading = { run, parts: new Map(), progress: new Map(), attempts: [] };

    const places = runEvents(reading, { sha256: noSha }).map(({ place }) => place);

    expect(new Set(places).size).toBe(places.length);
    expect(places).toEqual(places.toSorted().toReversed());
  });
});
