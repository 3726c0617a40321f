import { describe, expect, it } from "@jest/globals";
import { type Fault, isFault, limits } from "@posthaste/domain";
import * as fc from "fast-check";
import { faultCatalogue } from "../faults/catalogue.ts";
import { accepted, publish, refused } from "../headers/publish-input.fixture.ts";
import { headerRules } from "../headers/table.ts";
import { fuzzRuns, hostileText } from "../hostile.fixture.ts";

type Given = Readonly<Record<string, string>>;

const prefixes = ["Service-", "Upstash-"];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const aStep = bytes('{"stepId":1,"stepName":"s","stepType":"Run","out":"1","concurrent":1}');
const aPlan = bytes('{"stepId":0,"stepName":"s","stepType":"Run","concurrent":2,"targetStep":3}');

const run = { "Upstash-Workflow-RunId": "wfr_1" };
const starting = { ...run, "Upstash-Workflow-Init": "true" };
const calling = {
  ...run,
  "Upstash-Workflow-CallType": "toCallback",
  "Upstash-Callback": "https://example.com/workflow",
  "Upstash-Callback-Forward-Upstash-Workflow-StepId": "4",
};

/** A step that invokes another run: its headers are the child's, and its body describes the step. */
const invoking = { ...starting, "Upstash-Workflow-Invoke": "true" };
const anInvocation = (overrides: object = {}): Uint8Array =>
  bytes(
    JSON.stringify({
      body: '{"a":1}',
      headers: { "Upstash-Retries": ["2"], "Upstash-Forward-X-User": ["parent"] },
      workflowRunId: "wfr_parent",
      workflowRunCreatedAt: 1_700_000_000_000,
      workflowUrl: "https://example.com/parent",
      step: { stepId: 7, stepName: "invoke", stepType: "Invoke", concurrent: 1 },
      ...overrides,
    }),
  );

const runOf = (headers: Given, body = aStep) => accepted(headers, { body }).run;
const statusOf = ({ fault }: Fault): number => faultCatalogue[fault].status;

describe("a publish for a run", () => {
  it.each(prefixes)("starts the run if it says so, with the prefix %s", (prefix) => {
    const command = accepted({
      [`${prefix}Workflow-RunId`]: "wfr_1",
      [`${prefix}Workflow-Init`]: "true",
      [`${prefix}Feature-Set`]: "LazyFetch, WF_TriggerOnConfig,WF_DetectTrigger",
      [`${prefix}Forward-X-User`]: "1",
    });

    expect(command.run).toEqual({
      kind: "start",
      id: "wfr_1",
      features: ["WF_DetectTrigger", "WF_TriggerOnConfig"],
      headers: [["X-User", "1"]],
    });
  });

  it.each(["Upstash-Workflow-Sdk-Version", "Upstash-Forward-Upstash-Workflow-Sdk-Version"])(
    "of another version of the protocol is refused, and a message that names no run has none: %s",
    (name) => {
      const other = { [name]: "2" };

      expect(statusOf(refused({ ...starting, ...other }))).toBe(400);
      for (const given of [run, calling, invoking])
        expect(statusOf(refused({ ...given, ...other }, { body: aStep }))).toBe(412);
      expect(refused({ ...starting, ...other }).text).toContain("Workflow-Sdk-Version");
      expect(accepted({ ...starting, [name]: "1" }).run?.kind).toBe("start");
      expect(accepted(other).run).toBeUndefined();
    },
  );

  it("keeps no header of the caller that names the failure function: only the server sets those", () => {
    const { policy } = accepted({
      ...starting,
      "Upstash-Failure-Callback": "https://example.com/workflow",
      "Upstash-Failure-Callback-Forward-Upstash-Workflow-Is-Failure": "true",
      "Upstash-Failure-Callback-Forward-X-User": "1",
    });

    expect(policy.failureCallback?.headers).toEqual([["X-User", "1"]]);
  });

  it.each(prefixes)(
    "of a call has the settings of the report for a call that fails, %s",
    (prefix) => {
      const family = `${prefix}Callback-Failure-Callback`;
      const told = {
        [family]: "https://example.com/failed",
        [`${family}-Method`]: "PUT",
        [`${family}-Retries`]: "2",
        [`${family}-Retry-Delay`]: "1000 * retried",
        [`${family}-Delay`]: "3s",
        [`${family}-Timeout`]: "10s",
        [`${family}-Label`]: "late",
        [`${family}-Flow-Control-Key`]: "failures",
        [`${family}-Flow-Control-Value`]: "parallelism=1",
        [`${family}-Forward-X-User`]: "1",
        [`${family}-Forward-Host`]: "example.com",
        [`${family}-Forward-${prefix}Workflow-Is-Failure`]: "true",
        [`${family}-Workflow-Init`]: "false",
      };
      const given = Object.entries(calling).map(([name, value]): [string, string] => [
        name.replaceAll("Upstash-", prefix),
        value,
      ]);
      const { policy } = accepted({ ...Object.fromEntries(given), ...told });

      expect(policy.failureCallback).toBeUndefined();
      expect(policy.callback?.failureCallback).toEqual({
        url: "https://example.com/failed",
        method: "PUT",
        headers: [["X-User", "1"]],
        retriesMax: 2,
        retryDelay: "1000 * retried",
        delayMs: 3_000,
        timeoutMs: 10_000,
        labels: ["late"],
        flow: { key: "failures", limits: { parallelism: 1, periodMs: 1_000 } },
      });
      const wrong = refused({ ...calling, [`Upstash-Callback-Failure-Callback-Retries`]: "x" });
      expect(wrong.text).toContain("Upstash-Callback-Failure-Callback-Retries");
      expect(statusOf(wrong)).toBe(412);
      const plain = accepted({ [`${prefix}Callback`]: "https://example.com/told", ...told });
      expect(plain.policy.callback).not.toHaveProperty("failureCallback");
    },
  );

  it("may name its features in more than one line", () => {
    const headers = Object.entries(starting).flat();
    headers.push("Upstash-Feature-Set", "WF_DetectTrigger", "Upstash-Feature-Set", "LazyFetch");
    headers.push("Upstash-Feature-Set", "WF_TriggerOnConfig");
    const command = accepted(headers);

    expect(command.run).toMatchObject({ features: ["WF_DetectTrigger", "WF_TriggerOnConfig"] });
  });

  it.each<[string, Given, Uint8Array, object]>([
    ["a result", run, aStep, { role: "result", step: 1 }],
    ["a plan", run, aPlan, { role: "plan", step: 3 }],
    [
      "a result, as is said",
      { ...run, "Upstash-Workflow-Init": "false", "Upstash-Workflow-CallType": "step" },
      aStep,
      { role: "result", step: 1 },
    ],
    ["a plan with nulls", run, bytes('{"stepId":null,"targetStep":2}'), { role: "plan", step: 2 }],
    [
      "the last step that a run may have",
      run,
      bytes(`{"stepId":${limits.runStepsMax}}`),
      { role: "result", step: limits.runStepsMax },
    ],
  ])("appends to it: %s", (_, headers, body, key) => {
    expect(runOf(headers, body)).toMatchObject({ kind: "entry", id: "wfr_1", key });
  });

  it.each([
    [`"one"`, "one"],
    [`"a \u00e9"`, "a \u00e9"],
    [`""`, undefined],
    [`"a\\n"`, undefined],
    [`1`, undefined],
    [`{"a":"b"}`, undefined],
    [`"${"x".repeat(1_000)}"`, undefined],
  ])("has the name of its step, for traces, where that is plain: %s", (name, stepName) => {
    const body = bytes(`{"stepId":1,"stepName":${name}}`);
    const step = { role: "result", step: 1 };

    expect(runOf(run, body)).toEqual({
      ...{ kind: "entry", id: "wfr_1", key: step },
      ...(stepName !== undefined && { stepName }),
    });
  });

  it("means the use of the id that it names", () => {
    const headers = { ...run, "Upstash-Workflow-CreatedAt": "1700000000000" };

    expect(runOf(headers)).toMatchObject({ kind: "entry", createdAt: 1_700_000_000_000 });
  });

  it.each([
    [{ out: '{"webhookUrl":"u","eventId":"evt_1"}' }, "evt_1"],
    [{ out: '{"webhookUrl":"u","eventId":7}' }, undefined],
    [{ out: "null" }, undefined],
    [{ out: "no JSON" }, undefined],
    [{ out: { eventId: "evt_1" } }, undefined],
    [{}, undefined],
    [{ out: JSON.stringify({ eventId: "e".repeat(1_025) }) }, undefined],
    [{ stepType: "Run", out: '{"eventId":"evt_1"}' }, undefined],
  ])("names the event of a webhook that it has made: %j", (step, hook) => {
    const made = bytes(JSON.stringify({ stepId: 1, stepType: "CreateWebhook", ...step }));
    expect(runOf(run, made)).toEqual({
      kind: "entry",
      id: "wfr_1",
      key: { role: "result", step: 1 },
      ...(hook !== undefined && { hook }),
    });
  });

  it("calls a third party for the step that the answer goes to", () => {
    expect(runOf(calling, bytes("any"))).toEqual({ kind: "call", id: "wfr_1", step: 4 });
  });

  it("invokes another run, whose end is the result of the step that says so", () => {
    const command = accepted(invoking, { body: anInvocation() });

    expect(new TextDecoder().decode(command.body)).toBe('{"a":1}');
    expect(command.run).toMatchObject({
      kind: "invoke",
      child: { kind: "start", id: "wfr_1" },
      step: { stepId: 7, stepName: "invoke" },
      answer: {
        destination: { kind: "url", url: "https://example.com/parent" },
        policy: { retriesMax: 2 },
        run: {
          kind: "entry",
          id: "wfr_parent",
          createdAt: 1_700_000_000_000,
          key: { role: "result", step: 7 },
        },
      },
    });
  });

  it("is not recognized without the run's id, whatever else it says of runs", () => {
    const { "Upstash-Workflow-RunId": _, ...rest } = starting;

    expect(runOf(rest)).toBeUndefined();
    expect(runOf({ "Upstash-Forward-Upstash-Workflow-RunId": "wfr_1" })).toBeUndefined();
  });

  it("forwards the user's headers, with a Content-Type, and no header of both families", () => {
    const { headers, run: started } = accepted({
      ...starting,
      "Upstash-Forward-X-User": "1",
      "Upstash-Forward-Host": "of.the.request",
      "Upstash-Forward-Accept-Encoding": "br",
      "Upstash-Forward-Upstash-Workflow-RunId": "forged",
      "Upstash-Forward-Service-Signature": "forged",
      "Upstash-Forward-Upstash-Workflow-Invoke-Count": "2",
    });

    expect(headers).toEqual([
      ["Content-Type", "application/json"],
      ["X-User", "1"],
      ["Upstash-Workflow-Invoke-Count", "2"],
    ]);
    expect(started).toMatchObject({ headers: [["X-User", "1"]] });
  });
});

describe("the faults of a publish for a run", () => {
  it.each<[Given, string]>([
    [{ "Upstash-Workflow-RunId": "" }, "Upstash-Workflow-RunId"],
    [{ "Upstash-Workflow-RunId": "a/b" }, "Upstash-Workflow-RunId"],
    [{ "Upstash-Workflow-RunId": "a b" }, "Upstash-Workflow-RunId"],
    [{ "Upstash-Workflow-RunId": "a".repeat(257) }, "Upstash-Workflow-RunId"],
    [{ "Upstash-Workflow-RunId": "é" }, "Upstash-Workflow-RunId"],
    [{ ...run, "Upstash-Workflow-Init": "yes" }, "Upstash-Workflow-Init"],
    [{ ...run, "Upstash-Workflow-CreatedAt": "now" }, "Upstash-Workflow-CreatedAt"],
    [{ ...run, "Upstash-Workflow-CreatedAt": "-1" }, "Upstash-Workflow-CreatedAt"],
    [{ ...run, "Upstash-Workflow-CallType": "fromCallback" }, "Upstash-Workflow-CallType"],
    [{ ...run, "Upstash-Workflow-Invoke": "yes" }, "Upstash-Workflow-Invoke"],
    [{ ...run, "Upstash-Queue-Name": "q" }, "Upstash-Workflow-RunId"],
    [{ ...run, "Upstash-Retries": "x" }, "Upstash-Retries"],
    [{ ...run, "Upstash-Cron": "* * * * *" }, "Upstash-Cron"],
    [{ ...run, "Service-Retries": "1" }, "Service-Retries"],
    [{ ...run, "Upstash-Delay": "400d" }, "quota maxDelay"],
    [
      { ...calling, "Upstash-Callback-Forward-Upstash-Workflow-StepId": "x" },
      "Callback-Forward-*: a call must name its step",
    ],
    [
      { ...run, "Upstash-Workflow-CallType": "toCallback" },
      "Callback-Forward-*: a call must name its step",
    ],
  ])("is named, and is never 400: %j", (headers, name) => {
    const fault = refused(headers, { body: aStep });

    expect(fault.text).toContain(name);
    expect(statusOf(fault)).toBe(412);
  });

  it.each([
    "",
    "no json",
    "[]",
    "null",
    "1",
    "{}",
    '{"stepId":0}',
    '{"stepId":-1}',
    '{"stepId":1.5}',
    '{"stepId":"1"}',
    `{"stepId":${limits.runStepsMax + 1}}`,
    '{"stepId":0,"targetStep":0}',
    '{"stepId":1e999}',
  ])("is the body where that is no step: %j", (body) => {
    const fault = refused(run, { body: bytes(body) });

    expect(fault.text).toMatch(/^body: /);
    expect(statusOf(fault)).toBe(412);
  });

  it.each<[string, string]>([
    ["values", `{"stepId":1,"out":[${"[],".repeat(200_000)}0]}`],
    ["names", `{"stepId":1,"out":{${'"a":{},'.repeat(100_000)}"a":0}}`],
    ["depth", `{"stepId":1,"out":${"[".repeat(255)}${"]".repeat(255)}}`],
    ["length", `{"out":"${"\\u00e9".repeat(200_000)}","stepId":1}`],
  ])("of a step has as much as it likes: %s", (_, body) => {
    expect(runOf(run, bytes(body))).toMatchObject({ key: { role: "result", step: 1 } });
  });

  it.each<[string, string]>([
    ["depth", `{"stepId":1,"out":${"[".repeat(256)}${"]".repeat(256)}}`],
    ["depth of twenty thousand", `{"stepId":1,"out":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
    ["a value within that is none", `{"stepId":1,"out":[{"a":tru}]}`],
    ["names", `{"stepId":1${',"a":0'.repeat(1_024)}}`],
    ["an end that is missing", `{"stepId":1,"out":"`],
    ["another text behind it", `{"stepId":1}{}`],
  ])("of a step is refused for its %s, and not with 400", (_, body) => {
    const fault = refused(run, { body: bytes(body) });

    expect(fault.text).toMatch(/^body: a step of a run must /);
    expect(statusOf(fault)).toBe(412);
  });

  it("is the body where that is no text", () => {
    const fault = refused(run, { body: Uint8Array.from([...aStep.subarray(0, -1), 0xff, 0x7d]) });

    expect(fault).toMatchObject({ fault: "run_refused", text: expect.stringMatching(/^body: /) });
  });

  it.each<[string, Uint8Array]>([
    ["no JSON", bytes("no json")],
    ["an empty one", bytes("")],
    ["a list", bytes("[]")],
    ["no id of its run", anInvocation({ workflowRunId: undefined })],
    ["an id that is none", anInvocation({ workflowRunId: "a/b" })],
    ["no URL", anInvocation({ workflowUrl: undefined })],
    ["a time that is none", anInvocation({ workflowRunCreatedAt: "now" })],
    ["no step", anInvocation({ step: undefined })],
    ["a step without an id", anInvocation({ step: { stepName: "s" } })],
    ["a step that is none", anInvocation({ step: { stepId: -1 } })],
    ["headers that are none", anInvocation({ headers: { "Upstash-Retries": "2" } })],
    ["a header that is wrong", anInvocation({ headers: { "Upstash-Retries": ["x"] } })],
    ["a body that is no text", anInvocation({ body: {} })],
  ])("is the body of an invocation, and is never 400: %s", (_, body) => {
    const fault = refused(invoking, { body });

    expect(statusOf(fault)).toBe(412);
    expect(fault.text).toMatch(/^(body|upstash-)[^ ]*: /i);
  });

  it("is an invocation that is too deep", () => {
    const deep = (depth: number): Given => ({
      ...invoking,
      "Upstash-Forward-Upstash-Workflow-Invoke-Count": String(depth),
    });

    expect(accepted(deep(limits.invokeDepthMax), { body: anInvocation() }).run?.kind).toBe(
      "invoke",
    );
    const fault = refused(deep(limits.invokeDepthMax + 1), { body: anInvocation() });
    expect(statusOf(fault)).toBe(412);
    expect(fault.text).toContain(String(limits.invokeDepthMax));
  });

  it.each<[Given, string, number]>([
    [{ ...starting, "Upstash-Workflow-RunId": "a/b" }, "Upstash-Workflow-RunId", 400],
    [{ ...starting, "Upstash-Queue-Name": "q" }, "Upstash-Workflow-RunId", 400],
    [{ ...starting, "Upstash-Retries": "x" }, "Upstash-Retries", 400],
  ])("include those of any publish for a start: %j", (headers, name, status) => {
    const fault = refused(headers);

    expect(fault.text).toContain(name);
    expect(statusOf(fault)).toBe(status);
  });

  it("is a group: a run is of one URL", () => {
    const destination = { kind: "group", name: "g" } as const;

    expect(statusOf(refused(starting, { destination }))).toBe(400);
    expect(statusOf(refused(run, { destination, body: aStep }))).toBe(412);
  });

  it("is never 400 for a run that is under way, wherever its id is given", () => {
    const queryConfig = ["upstash-workflow-runid", "wfr_1"];

    expect(statusOf(refused({ "Upstash-Retries": "x" }, { queryConfig, body: aStep }))).toBe(412);
    expect(statusOf(refused({}, { queryConfig: [...queryConfig, "upstash-retries", "x"] }))).toBe(
      412,
    );
  });

  it("is never 400 for a run that is under way, whatever it holds", () => {
    const suffixes = headerRules.map(({ suffix }) => suffix.replace("*", "X"));
    const header = fc.tuple(
      fc.constantFrom("Upstash-", "Upstash-", "Upstash-", "service-", ""),
      fc.oneof(
        { arbitrary: fc.constantFrom(...suffixes), weight: 2 },
        { arbitrary: fc.constantFrom(...runSuffixes), weight: 2 },
        { arbitrary: hostileText([...suffixes, "Forward-", "Callback-"], 3), weight: 1 },
      ),
      hostileText(valuePieces, 4),
    );
    const body = fc.oneof(
      hostileText(bodyPieces).map(bytes),
      fc.constantFrom(aStep, aPlan),
      fc.uint8Array({ maxLength: 16 }),
    );
    const fields = new RegExp(
      `^(${[...suffixes, "body", "Forward-\\*", "Callback-Forward-\\*"].join("|")}): |^quota \\w+ exceeded|^DeduplicationId `,
      "i",
    );
    const id = fc.oneof(fc.constant("wfr_1"), hostileText(valuePieces, 3));

    fc.assert(
      fc.property(fc.array(header, { maxLength: 5 }), id, body, (given, runId, sent) => {
        const flat = given
          .filter(([, suffix]) => suffix.toLowerCase() !== "workflow-init")
          .flatMap(([prefix, suffix, value]) => [prefix + suffix, value]);
        const command = publish(["Upstash-Workflow-RunId", runId, ...flat], { body: sent });

        if (isFault(command)) {
          expect({ ...command, status: statusOf(command) }).not.toMatchObject({ status: 400 });
          const names = ["Upstash-Workflow-RunId", ...flat.filter((_, i) => i % 2 === 0)];
          const isNamed = names.some((name) => name !== "" && command.text.startsWith(name));
          expect(isNamed || fields.test(command.text) ? "" : command.text).toBe("");
        } else expect(["entry", "call"]).toContain(command.run?.kind);
      }),
      { numRuns: fuzzRuns },
    );
  });
});

const runSuffixes = [
  "Workflow-RunId",
  "Workflow-CreatedAt",
  "Workflow-CallType",
  "Workflow-Invoke",
  "Workflow-Unknown-Sdk",
  "Workflow-Url",
  "Feature-Set",
  "Callback-Forward-Upstash-Workflow-StepId",
];

const valuePieces = [
  ..."0 1 9 , = . - : / ; { } s".split(" "),
  ..."true false step toCallback fromCallback https://a.b q rate= WF_DetectTrigger".split(" "),
  ..."1e999 99999999999 __proto__ \0 \r\n \ud800 é".split(" "),
];

const bodyPieces = [
  ...'{ } [ ] : , " \\ 0 1 2 -1 1.5 1e5 null true'.split(" "),
  '"stepId"',
  '"targetStep"',
  '{"stepId":1',
  "\ud800",
];
