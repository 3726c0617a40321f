import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  aCallbackPlan,
  aborted,
  aClaimedRecord,
  anAnswer,
  anAttempt,
  aPolicy,
  aTenant,
  aTimeout,
  epochStart,
  ourFailure,
} from "@posthaste/testing";
import { dlqIdOf, messageId, runId, runKey } from "../shared/ids.ts";
import {
  deferralsMax,
  keptAnswerBytesMax,
  logResponseBytesMax,
  quarantineAfter,
} from "../shared/limits.ts";
import { alarmOf } from "./alarm.ts";
import { type FollowUp } from "./follow-up.ts";
import { type CallbackPlan } from "./policy.ts";
import { type Answer, type Outcome } from "./outcome.ts";
import { deferralMs } from "./retry.ts";
import { giveBack, postpone, quarantine, settleAttempt } from "./settle.ts";
import { settleUnwanted } from "./settle-in-run.ts";
import { alarmAfter } from "./settlement.ts";

const endedAt = epochStart + 5_000;
const inputs = { chance: 0, retryDelayMs: undefined };
const settleWith = (
  outcome: Outcome,
  record = aClaimedRecord(),
  { chance, retryDelayMs }: { chance?: number; retryDelayMs?: number } = {},
) => settleAttempt(record, anAttempt(outcome, { endedAt }), { chance: chance ?? 0, retryDelayMs });

const plan: CallbackPlan = aCallbackPlan();
const withCallbacks = aPolicy({ callback: plan, failureCallback: plan });
const kindsOf = (items: readonly FollowUp[]) => items.map(({ kind }) => kind);

describe("an attempt that the destination answered with a success", () => {
  const hidden = aPolicy({ redaction: { body: true, headers: [] } });

  it.each([200, 201, 204, 299])("delivers the message: %d", (status) => {
    const { next, append } = settleWith(anAnswer(status, { body: "four" }));

    expect(next).toEqual({ kind: "delivered", endedAt });
    expect(append).toEqual([
      {
        kind: "fact",
        id: expect.any(String) as unknown,
        attempt: 0,
        startedAt: endedAt - 250,
        endedAt,
        answered: { status, bytes: 4 },
        ended: "delivered",
      },
    ]);
  });

  it("makes a requested callback with the answer, and never a failure callback", () => {
    const answer = anAnswer(201, { body: "made", headers: [["X-A", "1"]] });

    const { append } = settleWith(answer, aClaimedRecord({ policy: withCallbacks, retried: 2 }));

    expect(kindsOf(append)).toEqual(["callback", "fact"]);
    expect(append[0]).toMatchObject({
      attempt: 2,
      retried: 2,
      endedAt,
      response: { status: 201, headers: [["X-A", "1"]], truncated: false },
    });
  });

  it("is a success also when its body was cut", () => {
    expect(settleWith(anAnswer(200, { truncated: true })).next.kind).toBe("delivered");
  });

  it("keeps the beginning of the answer's body beside the follow-ups, outside of them", () => {
    const body = Buffer.from("a".repeat(keptAnswerBytesMax + 1));

    const { answer, append } = settleWith(anAnswer(200, { body }));

    expect(answer).toEqual(new Uint8Array(body.subarray(0, keptAnswerBytesMax)));
    expect(JSON.stringify(append)).not.toMatch(/response/);
  });

  it.each([
    ["empty", "", aClaimedRecord(), false],
    ["to a redacted body", "a", aClaimedRecord({ policy: hidden }), false],
    ["where the plan keeps none", "a", aClaimedRecord(), true],
  ] as const)("keeps no answer that is %s", (_, body, record, keepsNoBody) => {
    const attempt = anAttempt(anAnswer(200, { body }), { endedAt });

    expect(settleAttempt(record, attempt, { ...inputs, keepsNoBody })).not.toHaveProperty("answer");
  });
});

describe("an attempt that failed with retries left", () => {
  it.each<[string, Outcome]>([
    ["an informational status", anAnswer(199)],
    ["a redirect", anAnswer(301)],
    ["a client error", anAnswer(404)],
    ["a server error", anAnswer(500)],
    ["489 without the header that makes it final", anAnswer(489)],
    [
      "the header without 489",
      anAnswer(400, { headers: [["Service-NonRetryable-Error", "true"]] }),
    ],
    ["no answer", aTimeout],
  ])("is held until its retry and counts as one: %s", (_, outcome) => {
    const { next, retried, append } = settleWith(outcome);

    expect(next).toEqual({ kind: "held", dueAt: endedAt + 12_182, waitMs: 12_182 });
    expect(retried).toBe(1);
    expect(append).toMatchObject([
      { kind: "fact", attempt: 0, ended: "retry", nextDeliveryAt: endedAt + 12_182 },
    ]);
  });

  it("waits for the Retry-After of its destination, else by its expression, else by the default", () => {
    const asking = anAnswer(429, { headers: [["Retry-After", "7"]] });

    const dueAfter = [
      settleWith(asking, undefined, { retryDelayMs: 900 }),
      settleWith(anAnswer(429), undefined, { retryDelayMs: 900 }),
      settleWith(anAnswer(429), undefined, { chance: 0.5 }),
      settleWith(anAnswer(429), undefined, { retryDelayMs: 0 }),
    ].map(({ next }) => next.kind === "held" && next.dueAt - endedAt);

    expect(dueAfter).toEqual([7_000, 900, 12_682, 0]);
  });

  it("calls back after each attempt, but not as a failure", () => {
    const { append } = settleWith(anAnswer(500), aClaimedRecord({ policy: withCallbacks }));

    expect(kindsOf(append)).toEqual(["callback", "fact"]);
  });

  it("gives the log the destination's answer, or the reason for a missing answer", () => {
    const [answered] = settleWith(anAnswer(500, { body: "no" })).append;
    const [silent] = settleWith(aTimeout).append;

    expect(answered).toMatchObject({ response: { status: 500 } });
    expect(answered).not.toHaveProperty("error");
    expect(silent).toMatchObject({ error: "no answer within 60000 ms" });
    expect(silent).not.toHaveProperty("response");
  });

  it.each([
    ["with retries left", {}],
    ["for good", { retried: 3 }],
  ])("keeps the part of a large answer that the log shows in the fact, %s", (_, overrides) => {
    const large = anAnswer(500, { body: new Uint8Array(logResponseBytesMax + 1) });

    const { append } = settleWith(large, aClaimedRecord({ policy: withCallbacks, ...overrides }));

    const kept = append.map(({ kind, response }) => [
      kind,
      response?.body.length,
      response?.truncated,
    ]);
    expect(kept.find(([kind]) => kind === "callback")).toEqual([
      "callback",
      logResponseBytesMax + 1,
      false,
    ]);
    expect(kept.find(([kind]) => kind === "fact")).toEqual(["fact", logResponseBytesMax, true]);
  });
});

describe("an attempt of a delivery of a run", () => {
  const id = runId("run");
  const run = { id, key: runKey(aTenant, id, 1), root: messageId("msg_root"), createdAt: 0 };
  const delivery = aClaimedRecord({ run: { ...run, bytes: 0, part: "s1" } });

  it("that failed with retries left leaves a fact for the log of runs", () => {
    const { append } = settleWith(anAnswer(500, { body: "no" }), delivery);

    expect(append).toMatchObject([{ kind: "fact", ended: "retry", response: { status: 500 } }]);
  });

  const startOf = (dialect: "service" | "upstash", detects: "client" | "request") =>
    aClaimedRecord({ dialect, run: { ...run, bytes: 0, part: "start", detects } });
  const version = (family: string) =>
    anAnswer(200, { headers: [[`${family}-Workflow-Sdk-Version`, "1"]] });

  it.each([
    ["service", "Service", "Upstash"],
    ["upstash", "UPSTASH", "service"],
  ] as const)(
    "that starts it is answered by a workflow if that says its version in the run's own dialect, %s",
    (dialect, own, other) => {
      const start = startOf(dialect, "client");

      expect(settleWith(version(own), start).next.kind).toBe("delivered");
      for (const strange of [version(other), anAnswer(200)])
        expect(settleWith(strange, start)).toMatchObject({
          next: { kind: "failed" },
          append: [{ kind: "run", says: "failed", reason: "not_a_workflow" }],
        });
    },
  );

  it.each<[version: string | undefined, isWorkflow: boolean]>([
    ["v1.3.3", true],
    ["v1", true],
    ["v2.0.0", true],
    [undefined, false],
    ["v0.2.23", false],
    ["1.3.3", false],
    ["", false],
  ])("that a request has started is answered by an SDK of 1.0 or later: %s", (sdk, isWorkflow) => {
    for (const dialect of ["service", "upstash"] as const) {
      const headersOf = (family: string): Answer["headers"] => [
        [`${dialect}-Workflow-Sdk-Version`, "1"],
        ...(sdk === undefined ? [] : [[`${family}-Workflow-sdk`, sdk] as const]),
      ];
      const kindOf = (family: string, detects: "client" | "request") =>
        settleWith(anAnswer(200, { headers: headersOf(family) }), startOf(dialect, detects)).next
          .kind;
      const other = dialect === "service" ? "upstash" : "service";

      expect(kindOf(dialect, "request")).toBe(isWorkflow ? "delivered" : "failed");
      expect(kindOf(other, "request")).toBe("failed");
      expect(kindOf(dialect, "client")).toBe("delivered");
    }
  });

  it("gives the reason that it is no workflow in the words that clients know, by the kind of start", () => {
    const errorOf = (detects: "client" | "request") =>
      JSON.stringify(settleWith(anAnswer(200), startOf("upstash", detects)).append);

    expect(errorOf("client")).toContain("detected a non-workflow destination");
    expect(errorOf("request")).toContain(
      "trigger rest api is only usable with sdk versions after v1.0.0 major version",
    );
  });

  it("that succeeded leaves nothing: its effects show the success", () => {
    expect(settleWith(anAnswer(200), delivery).append).toEqual([]);
  });

  it("that starts it records that its answer had no mark of a workflow, or that none is known", () => {
    const start = aClaimedRecord({ dialect: "service", run: { ...run, bytes: 0, part: "start" } });
    const says = [{ kind: "run", says: "unmarked" }];

    expect(settleWith(version("service"), start).append).toEqual([]);
    expect(settleWith(anAnswer(200), start)).toMatchObject({
      next: { kind: "delivered" },
      append: says,
    });
    expect(settleUnwanted({ ...start, epoch: 2 }, epochStart).append).toMatchObject(says);
    expect(settleUnwanted({ ...start, epoch: 1 }, epochStart).append).toEqual([]);
    expect(settleUnwanted({ ...delivery, epoch: 2 }, epochStart).append).toEqual([]);
    expect(
      settleUnwanted({ ...startOf("service", "client"), epoch: 2 }, epochStart).append,
    ).toEqual([]);
  });

  it("whose answer was refused fails, and reports the reason beside the answer", () => {
    const refused = { ...anAnswer(200), refused: "it lacks the mark" };

    expect(settleWith(refused, delivery).append).toMatchObject([
      { kind: "fact", ended: "retry", error: "it lacks the mark", response: { status: 200 } },
    ]);
  });
});

describe("an attempt that failed for good", () => {
  it.each<[string, Outcome, number, string]>([
    ["its retries are used up", anAnswer(500), 3, "retries_exhausted"],
    ["its destination never answers", aTimeout, 3, "retries_exhausted"],
    [
      "its destination says it is final",
      anAnswer(489, { headers: [["Service-NonRetryable-Error", "true"]] }),
      0,
      "non_retryable",
    ],
    [
      "its destination says so in the other dialect",
      anAnswer(489, { headers: [["upstash-nonretryable-error", " TRUE "]] }),
      0,
      "non_retryable",
    ],
  ])("makes a dead letter when %s", (_, outcome, retried, reason) => {
    const record = aClaimedRecord({ retried });

    const settled = settleWith(outcome, record);

    const dlqId = dlqIdOf(record.message.id, endedAt);
    expect(settled.next).toEqual({ kind: "failed", endedAt });
    expect(settled.retried).toBe(retried);
    expect(settled.append).toMatchObject([
      { kind: "deadLetter", attempt: retried, dlqId, failedAt: endedAt, reason },
      { kind: "fact", attempt: retried, ended: "failed" },
    ]);
  });

  it("is final at the first attempt when no retries were allowed", () => {
    const record = aClaimedRecord({ policy: aPolicy({ retriesMax: 0 }) });

    expect(settleWith(anAnswer(500), record).next.kind).toBe("failed");
  });

  it("writes the dead letter first, then the callback, then the failure callback, then the fact", () => {
    const record = aClaimedRecord({ policy: { ...withCallbacks, retriesMax: 0 } });

    const { append } = settleWith(anAnswer(500), record);

    const dlqId = dlqIdOf(record.message.id, endedAt);
    expect(kindsOf(append)).toEqual(["deadLetter", "callback", "failureCallback", "fact"]);
    expect(append[2]).toMatchObject({ dlqId });
    expect(append[1]).not.toHaveProperty("dlqId");
  });

  it("is not final when the header says so in another word", () => {
    const answer = anAnswer(489, { headers: [["Service-NonRetryable-Error", "false"]] });

    expect(settleWith(answer).next.kind).toBe("held");
  });
});

describe("an attempt that failed through us", () => {
  it("costs no retry, causes no callback, and waits longer each time up to a minute", () => {
    const waits = [0, 1, 2, 5, 6, 40, deferralsMax - 1].map((deferrals) => {
      const settled = settleWith(ourFailure, aClaimedRecord({ deferrals, policy: withCallbacks }));
      expect(settled).toMatchObject({ retried: 0, deferrals: deferrals + 1, append: [] });
      return settled.next.kind === "held" && settled.next.dueAt - endedAt;
    });

    expect(waits).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it("is not final, however many retries are used up", () => {
    expect(settleWith(ourFailure, aClaimedRecord({ retried: 3 })).next.kind).toBe("held");
  });

  it("is final after an hour: a dead letter with the reason", () => {
    const hourMs = 3_600_000;
    const record = aClaimedRecord({ deferrals: deferralsMax, policy: withCallbacks });
    let waitedMs = 0;
    for (let deferrals = 0; deferrals < deferralsMax; deferrals++)
      waitedMs += deferralMs(deferrals);

    const { next, append } = settleWith(ourFailure, record);

    expect([waitedMs >= hourMs, waitedMs < hourMs + 60_000]).toEqual([true, true]);
    expect(next).toEqual({ kind: "failed", endedAt });
    expect(append[0]).toMatchObject({
      kind: "deadLetter",
      reason: "deferred",
      error: expect.stringMatching(/^deferred for an hour, no attempt was possible: ./) as unknown,
    });
    expect(kindsOf(append)).toEqual(["deadLetter", "callback", "failureCallback", "fact"]);
  });

  it("is forgotten after an answer of the destination, as lost leases are", () => {
    const settled = settleWith(anAnswer(500), aClaimedRecord({ deferrals: 4, leaseLosses: 3 }));

    expect(settled).toMatchObject({ deferrals: 0, leaseLosses: 0 });
  });
});

describe("an attempt that was cut short", () => {
  it("gives the claim back at once and counts for nothing", () => {
    const record = aClaimedRecord({
      retried: 1,
      leaseLosses: 2,
      deferrals: 3,
      policy: withCallbacks,
    });

    const settled = settleWith(aborted, record);

    expect(settled.next).toEqual({ kind: "held", dueAt: endedAt, waitMs: 1 });
    expect(settled).toMatchObject({ retried: 1, leaseLosses: 2, deferrals: 3, append: [] });
    expect(settled).toEqual(giveBack(record, endedAt));
  });

  it("rings at once: the deliverer that gave the claim back is stopping, and may send no hint", () => {
    expect(alarmAfter(settleWith(aborted), endedAt).wakeAt).toBe(endedAt);
  });

  it("is held until later when it is postponed, in a line or not, and nothing is counted", () => {
    const flow = { key: "k", limits: { rate: 1, periodMs: 1_000 } };
    const record = aClaimedRecord({ flow, retried: 1, leaseLosses: 5, deferrals: 3 });

    expect(postpone(record, endedAt, endedAt + 30_000)).toMatchObject({
      next: { kind: "held", dueAt: endedAt + 30_000, waitMs: 30_000 },
      retried: 1,
      leaseLosses: 5,
      deferrals: 3,
      append: [],
    });
  });

  it("goes back into its line when it has one", () => {
    const record = aClaimedRecord({ flow: { key: "k", limits: { rate: 1, periodMs: 1_000 } } });

    const settled = giveBack(record, endedAt);

    expect(settled.next.kind).toBe("waiting");
    expect(alarmAfter(settled, endedAt).wakeAt).toBeUndefined();
  });
});

describe("a message that keeps taking its deliverers down", () => {
  it("ends as a dead letter with that reason, with its failure callback", () => {
    const record = aClaimedRecord({ leaseLosses: quarantineAfter, policy: withCallbacks });

    const { next, append } = quarantine(record, endedAt);

    expect(next).toEqual({ kind: "failed", endedAt });
    expect(kindsOf(append)).toEqual(["deadLetter", "callback", "failureCallback", "fact"]);
    expect(append[0]).toMatchObject({
      reason: "quarantined",
      error: expect.stringMatching(/^quarantined: at least 8 /) as unknown,
    });
  });
});

describe("every settlement", () => {
  const outcomes = fc.oneof(
    fc.integer({ min: 100, max: 599 }).map((status) => anAnswer(status)),
    fc.constantFrom<Outcome>(aTimeout, ourFailure, aborted),
  );
  const records = fc
    .record({
      retried: fc.nat(4),
      deferrals: fc.nat(20),
      leaseLosses: fc.nat(7),
      callback: fc.boolean(),
      flow: fc.boolean(),
    })
    .map(({ callback, flow, ...counts }) =>
      aClaimedRecord({
        ...counts,
        policy: callback ? withCallbacks : aPolicy(),
        ...(flow && { flow: { key: "k", limits: { parallelism: 1, periodMs: 1_000 } } }),
      }),
    );

  it("keeps I3: unless it is over, or in line, it has the alarm of its new state, 30 s at most with an outbox", () => {
    const holds = fc.property(records, outcomes, (record, outcome) => {
      const settled = settleAttempt(record, anAttempt(outcome, { endedAt }), inputs);
      const { next, append } = settled;
      const { wakeAt } = alarmAfter(settled, endedAt);
      const over = next.kind !== "held" && next.kind !== "due";
      expect(wakeAt).toBe(alarmOf(next, append.length > 0, endedAt));
      if (!over || append.length > 0) expect(wakeAt).toBeDefined();
      if (append.length > 0) expect(wakeAt).toBeLessThanOrEqual(endedAt + 30_000);
    });

    fc.assert(holds, { seed: 1, numRuns: 500 });
  });

  it("is fenced by the epoch of its claim and never counts more than one retry", () => {
    const holds = fc.property(records, outcomes, (record, outcome) => {
      const settled = settleAttempt(record, anAttempt(outcome, { endedAt }), inputs);
      expect(settled.epoch).toBe(record.epoch);
      expect(settled.message).toBe(record.message);
      expect([record.retried, record.retried + 1]).toContain(settled.retried);
      if (settled.next.kind === "held" && settled.retried > record.retried) {
        expect(settled.retried).toBeLessThanOrEqual(record.message.policy.retriesMax);
      }
    });

    fc.assert(holds, { seed: 1, numRuns: 500 });
  });

  it("that fails writes its dead letter before anything that reports it (I6)", () => {
    const holds = fc.property(records, outcomes, (record, outcome) => {
      const { next, append } = settleAttempt(record, anAttempt(outcome, { endedAt }), inputs);
      expect(kindsOf(append).indexOf("deadLetter")).toBe(next.kind === "failed" ? 0 : -1);
    });

    fc.assert(holds, { seed: 1, numRuns: 500 });
  });

  it("with an outbox from an earlier attempt keeps the alarm of that", () => {
    const earlier = settleWith(anAnswer(500), aClaimedRecord({ policy: withCallbacks })).append;
    const record = aClaimedRecord({ outbox: earlier });

    const deferred = settleAttempt(record, anAttempt(ourFailure, { endedAt }), inputs);
    const retried = settleWith(anAnswer(503, { headers: [["Retry-After", "3600"]] }), record);
    const flow = { key: "k", limits: { rate: 1, periodMs: 1_000 } };
    const inLane = aClaimedRecord({ outbox: earlier, flow });

    const alarms = [deferred, giveBack(inLane, endedAt), retried].map(
      (each) => alarmAfter(each, endedAt).wakeAt,
    );

    expect(alarms).toEqual([endedAt + 1_000, endedAt + 30_000, endedAt + 30_000]);
  });
});
