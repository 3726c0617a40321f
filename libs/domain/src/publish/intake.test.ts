import { describe, expect, it } from "@jest/globals";
import { aCommand, aStartCommand, aStepCommand } from "@posthaste/testing";
import { runId } from "../shared/ids.ts";
import { type PublishCommand } from "./command.ts";
import { kindOfAll, quotaNeeded } from "./intake.ts";

const message = aCommand();
const start = aStartCommand();
const stepOf = (id: string): PublishCommand =>
  aStepCommand({ role: "result", step: 1 }, { id: runId(id) });
const callOf = (id: string): PublishCommand => ({
  ...message,
  run: { kind: "call", id: runId(id), step: 1 },
});
const startedBy = (id: string, phase: "probes" | "adopts"): PublishCommand => ({
  ...message,
  run: { kind: "start", id: runId(id), features: [], headers: [], phase },
});
const invocationBy = (id: string): PublishCommand => ({
  ...message,
  run: {
    kind: "invoke",
    child: { kind: "start", id: runId("child"), features: [], headers: [] },
    answer: stepOf(id),
    step: {},
  },
});

describe("publishes that come together", () => {
  it.each<[string, readonly PublishCommand[], string]>([
    ["nothing", [], "messages"],
    ["messages", [message, message], "messages"],
    ["starts, one of which probes", [start, startedBy("a", "probes")], "starts"],
    ["all that a run publishes", [stepOf("a"), callOf("a"), invocationBy("a")], "steps"],
    ["the start that adopts a run", [startedBy("a", "adopts"), stepOf("a")], "steps"],
  ])("are of one kind: %s", (_, commands, kind) => {
    expect(kindOfAll(commands)).toBe(kind);
  });

  it.each<[string, readonly PublishCommand[], string, number]>([
    ["a message and a start", [message, message, start], "malformed", 2],
    ["a start and a message", [start, message], "malformed", 1],
    ["a message before a step", [message, stepOf("a")], "run_refused", 1],
    ["a message behind a step", [stepOf("a"), message], "run_refused", 1],
    ["a start and a step", [start, start, stepOf("a")], "run_refused", 2],
    ["steps of two runs", [stepOf("a"), stepOf("a"), callOf("b")], "run_refused", 2],
    ["an invocation by another run", [stepOf("a"), invocationBy("b")], "run_refused", 1],
  ])("are refused by the first that differs: %s", (_, commands, code, index) => {
    expect(kindOfAll(commands)).toMatchObject({ refused: { fault: code }, index });
  });
});

describe("the quota that publishes need", () => {
  it("has each message, each endpoint of a group, and each queue once", () => {
    const toGroup = aCommand({ destination: { kind: "group", name: "g" }, queue: "b" });
    const commands = [{ ...message, queue: "a" }, message, toGroup, { ...message, queue: "a" }];

    expect(quotaNeeded(commands, new Map([["g", { endpointCount: 3 }]]))).toEqual({
      messages: 6,
      queues: ["a", "b"],
    });
  });
});
