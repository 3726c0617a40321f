import { describe, expect, it } from "@jest/globals";
import { aCallbackPlan, aMessage, aPolicy, aRun, epochStart } from "@posthaste/testing";
import { runMessageId } from "../shared/ids.ts";
import {
  answerMessage,
  callMessage,
  entryMessage,
  failureDelivery,
  failureMessage,
  merged,
} from "./delivery.ts";
import { type Message } from "../message/message.ts";
import { type CallbackPlan } from "../message/policy.ts";
import { failRun } from "./change.ts";
import { deliveryOf } from "./part-key.ts";
import { type EntryDelivery, type Run, type RunPlan } from "./run.ts";

const now = epochStart + 1_000;
const body = new TextEncoder().encode("said");

const aDelivery = (overrides: Partial<EntryDelivery> = {}): EntryDelivery => ({
  url: "https://endpoint.example/workflow",
  method: "POST",
  headers: [],
  notBefore: now,
  callerIp: "203.0.113.9",
  hop: 2,
  policy: aPolicy(),
  ...overrides,
});

const aPlanOf = (overrides: Partial<RunPlan> = {}): RunPlan => ({
  features: [],
  headers: [["X-User", "run"]],
  policy: aPolicy({ retriesMax: 7, labels: ["run"] }),
  ...overrides,
});

const step = (role: "plan" | "result") => ({ role, step: 3 }) as const;

describe("the message of an entry", () => {
  it("is of its run, in its shard, and has no body of its own", () => {
    const run = aRun();
    const { createdAt, id, key, root, shard, tenant } = run;
    const message = entryMessage(run, step("result"), aDelivery(), now);

    expect(message).toMatchObject({
      id: runMessageId(root, "s3"),
      ...{ shard, tenant, dialect: run.dialect, createdAt: now, notBefore: now },
      url: "https://endpoint.example/workflow",
      origin: { callerIp: "203.0.113.9", hop: 2 },
      run: { createdAt, id, key, root, part: "s3" },
    });
    expect(message.body).toHaveLength(0);
    expect(message.run).not.toHaveProperty("detects");
    expect(message.queue).toBeUndefined();
    expect(entryMessage(run, { role: "start" }, aDelivery(), now).id).toBe(root);
  });

  it("is left alone by the builds that leave its run alone", () => {
    const run = aRun({ format: 6 });

    expect(entryMessage(run, step("result"), aDelivery(), now).format).toBe(6);
  });

  it("is due at its requested time, and never before now", () => {
    const at = (notBefore: number) =>
      entryMessage(aRun(), step("plan"), aDelivery({ notBefore }), now).notBefore;

    expect([at(now - 5), at(now + 5)]).toEqual([now, now + 5]);
  });

  it("has the headers of its run, and of one name its own", () => {
    const run = aRun({
      plan: aPlanOf({
        headers: [
          ["X-User", "run"],
          ["X-Other", "run"],
        ],
      }),
    });
    const own = aDelivery({ headers: [["x-user", "step"]] });

    expect(entryMessage(run, step("result"), own, now).headers).toEqual([
      ["X-Other", "run"],
      ["x-user", "step"],
    ]);
  });

  it("looks whether a workflow answers its start, where the client can tell", () => {
    const run = aRun({ plan: aPlanOf({ features: ["WF_DetectTrigger"] }) });

    const asked = aRun({ plan: aPlanOf({ features: ["WF_DetectTrigger"], isRequested: true }) });
    const detects = [run, asked].map(
      (each) => entryMessage(each, { role: "start" }, aDelivery(), now).run?.detects,
    );
    expect(detects).toEqual(["client", "request"]);
    expect(entryMessage(run, step("plan"), aDelivery(), now).run).not.toHaveProperty("detects");
  });

  const own = aPolicy({ retriesMax: 1, timeoutMs: 5_000, labels: ["step"] });
  const told = aCallbackPlan({ url: "https://failure.example/" });
  const redaction = { body: true, headers: [] } as const;

  it.each<[string, Partial<RunPlan>, EntryDelivery["policy"], EntryDelivery["policy"]]>([
    ["its own, with the labels of its run", {}, own, { ...own, labels: ["run"] }],
    [
      "its own, redacted as its run is",
      { policy: aPolicy({ redaction }) },
      own,
      { ...own, labels: [], redaction },
    ],
    [
      "that of its run, where the client says so at the start",
      { features: ["WF_TriggerOnConfig"] },
      own,
      aPolicy({ retriesMax: 7, labels: ["run"] }),
    ],
    [
      "never a callback, and the failure function of the step where the run has none",
      {},
      { ...own, callback: told, failureCallback: told },
      { ...own, labels: ["run"], failureCallback: told },
    ],
    [
      "the failure function of its run, whatever the step says",
      { failureFunction: told },
      { ...own, failureCallback: aCallbackPlan() },
      { ...own, labels: ["run"], failureCallback: told },
    ],
  ])("has a policy: %s", (_, plan, policy, expected) => {
    const run = aRun({ plan: aPlanOf(plan) });

    expect(entryMessage(run, step("result"), aDelivery({ policy }), now).policy).toEqual(expected);
  });
});

describe("the message of a call", () => {
  it("carries the requested settings, and nothing of its run but the labels", () => {
    const failureCallback = aCallbackPlan();
    const run = aRun({ plan: aPlanOf({ failureFunction: failureCallback }) });
    const headers = [["Authorization", "third"]] as const;
    const callback = aCallbackPlan({ url: run.url });
    const sent = aDelivery({
      url: "https://third.example/",
      headers,
      policy: aPolicy({ retriesMax: 0, callback, failureCallback }),
    });
    const message = callMessage(run, 3, { ...sent, body }, now);

    expect(message).toMatchObject({
      id: runMessageId(run.root, "c3"),
      url: "https://third.example/",
      headers,
      body,
      run: { part: "c3" },
    });
    expect(message.policy).toEqual(aPolicy({ retriesMax: 0, labels: ["run"], callback }));
  });
});

describe("the messages that tell the endpoint", () => {
  const source = aMessage({ origin: { callerIp: "198.51.100.1", hop: 4 } });
  const plan = aCallbackPlan({ url: "https://told.example/", headers: [["X-User", "told"]] });
  const run = aRun({ plan: aPlanOf() });

  it("of an answer go out as the call has set", () => {
    const message = answerMessage(run, 3, plan, { body, from: source.origin }, now);

    expect(message).toMatchObject({
      id: runMessageId(run.root, "a3"),
      url: "https://told.example/",
      body,
      origin: { callerIp: "198.51.100.1", hop: 4 },
      run: { part: "a3" },
      policy: { retriesMax: 7, labels: ["run"] },
    });
    expect(Object.fromEntries(message.headers)).toEqual({
      "Content-Type": "application/json",
      "X-User": "told",
    });
  });

  it("of an answer, with the failure function of its call where the run has none", () => {
    const told = aCallbackPlan({ url: "https://failed.example/" });
    const policyOf = (of: Run) =>
      answerMessage(of, 3, { ...plan, failureCallback: told }, { body, from: source.origin }, now)
        .policy;
    const own = aRun({ plan: aPlanOf({ failureFunction: plan }) });

    expect(policyOf(run).failureCallback).toEqual(told);
    expect(policyOf(own).failureCallback).toEqual(plan);
  });

  it("wait for the requested delay, and inherit retry settings that are not given", () => {
    const policy = aPolicy({ retriesMax: 7, retryDelay: "5", labels: ["run"] });
    const inheriting = aRun({ plan: aPlanOf({ features: [], policy }) });
    const { origin } = source;
    const answerOf = (of: CallbackPlan) =>
      answerMessage(inheriting, 3, of, { body, from: origin }, now);
    const failureOf = (of: CallbackPlan) => failureDelivery(inheriting, of, origin, now);
    const late = aCallbackPlan({ delayMs: 9, retriesMax: 1, retryDelay: "2", labels: ["late"] });

    for (const told of [answerOf(aCallbackPlan()), failureOf(aCallbackPlan())]) {
      expect(told.notBefore).toBe(now);
      expect(told.policy).toMatchObject({ retriesMax: 7, retryDelay: "5", labels: ["run"] });
    }
    for (const told of [answerOf(late), failureOf(late)]) {
      expect(told.notBefore).toBe(now + 9);
      expect(told.policy).toMatchObject({ retriesMax: 1, retryDelay: "2" });
    }
    expect(failureOf(late).policy.labels).toEqual(["late"]);
  });

  it("of a failure, which nothing of its run waits for", () => {
    const failing = failRun(run, { role: "start" }, { reason: "retries_exhausted" }, now);
    if (!failing) throw new Error("it fails");
    const sent = failureDelivery(run, plan, source.origin, now);
    const message = failureMessage(failing, sent, body, now);

    expect(message).toMatchObject({
      id: runMessageId(run.root, "f"),
      body,
      run: { part: "f" },
      policy: { retriesMax: 7, timeoutMs: plan.timeoutMs, labels: ["run"] },
    });
    expect(message.policy.failureCallback).toBeUndefined();
    expect(deliveryOf("f")).toBeUndefined();
  });
});

describe("headers of two", () => {
  it("have one value for each name, however it is spelt", () => {
    const base = [
      ["A", "1"],
      ["b", "1"],
    ] as const;

    expect(merged(base, [["a", "2"]])).toEqual([
      ["b", "1"],
      ["a", "2"],
    ]);
    expect(merged(base, [])).toEqual(base);
  });
});

describe("each message of a run", () => {
  const trace = "00-11111111111111111111111111111111-2222222222222222-01";
  const named = aCallbackPlan({ headers: [["Upstash-Workflow-StepName", "third"]] });
  const sent = aDelivery({ stepName: "one" });
  const call = aDelivery({ policy: aPolicy({ callback: named }) });
  const failing = (run: Run) => {
    const failed = failRun(run, { role: "start" }, { reason: "retries_exhausted" }, now);
    if (!failed) throw new Error("it fails");
    return failed;
  };
  const from = { callerIp: "203.0.113.9", hop: 1 };
  const made: readonly [string, string, string | undefined, (run: Run) => Message][] = [
    [
      "a start",
      "start",
      undefined,
      (run) => entryMessage(run, { role: "start" }, aDelivery(), now),
    ],
    [
      "a start that was adopted",
      "adopted",
      undefined,
      (run) => entryMessage(run, { role: "adopted" }, aDelivery(), now),
    ],
    ["a plan", "p3", "one", (run) => entryMessage(run, step("plan"), sent, now)],
    [
      "a result, of a step, an event, a time that is up, or another run",
      "s3",
      "one",
      (run) => entryMessage(run, step("result"), sent, now),
    ],
    ["a call", "c3", "third", (run) => callMessage(run, 3, { ...call, body }, now)],
    [
      "what a call was answered",
      "a3",
      "third",
      (run) => answerMessage(run, 3, named, { body, from }, now),
    ],
    [
      "what tells of its failure",
      "f",
      undefined,
      (run) => failureMessage(failing(run), failureDelivery(run, named, from, now), body, now),
    ],
  ];

  it.each(made)("says for its spans whose it is: %s", (_, part, stepName, make) => {
    const run = aRun({ plan: aPlanOf({ trace }) });
    const message = make(run);

    expect(message.trace).toBe(trace);
    expect(message.run).toMatchObject({ id: run.id, part, createdAt: run.createdAt });
    expect(message.run?.stepName).toBe(stepName);
    const untraced = make(aRun());
    expect(untraced.trace).toBeUndefined();
    expect(untraced.run).not.toHaveProperty("stepName");
  });
});
