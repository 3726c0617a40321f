import { describe, expect, it } from "@jest/globals";
import {
  aCallbackPlan,
  aClaimedRecord,
  anAnswer,
  anAttempt,
  aPolicy,
  epochStart,
  newId,
} from "@posthaste/testing";
import { callbackId } from "../shared/ids.ts";
import { namedBodyBytesMax } from "../shared/limits.ts";
import { type Message } from "./message.ts";
import { ownFactOf } from "./own-log.ts";
import { settleAttempt } from "./settle.ts";

const settledWith = (
  message: Partial<Message> = {},
  { status = 200, retried = 0, createdAgoMs = 1_000, tookMs = 250 } = {},
) => {
  const record = aClaimedRecord({ retried });
  const endedAt = epochStart + createdAgoMs;
  const attempt = { ...anAttempt(anAnswer(status), { endedAt }), startedAt: endedAt - tookMs };
  const inputs = { chance: 0, retryDelayMs: undefined };
  const made = { ...record.message, createdAt: epochStart, ...message };
  return settleAttempt({ ...record, message: made }, attempt, inputs);
};
const origin = { callerIp: "::1", hop: 0 };

describe("a delivery is logged by its own record", () => {
  it.each<readonly [string, Parameters<typeof settledWith>]>([
    ["a second after its making", []],
    ["at once", [{}, { createdAgoMs: 0, tookMs: 0 }]],
    ["begun before its making, by another clock", [{}, { createdAgoMs: 10, tookMs: 20 }]],
    ["with a body that travels with its hint", [{ body: new Uint8Array(namedBodyBytesMax) }]],
    ["with a failure callback", [{ policy: aPolicy({ failureCallback: aCallbackPlan() }) }]],
  ])("%s", (_, given) => {
    const settlement = settledWith(...given);

    expect(ownFactOf(settlement)).toEqual(settlement.append[0]);
  });
});

describe("a delivery is not logged by its own record", () => {
  it.each<readonly [string, Parameters<typeof settledWith>]>([
    ["later than a second after its making", [{}, { createdAgoMs: 1_001 }]],
    ["by a call of more than a second", [{}, { tookMs: 1_001 }]],
    ["made after its end, by another clock", [{}, { createdAgoMs: -1 }]],
    ["after a retry", [{}, { retried: 1 }]],
    ["that failed", [{}, { status: 500 }]],
    ["with a callback", [{ policy: aPolicy({ callback: aCallbackPlan() }) }]],
    ["redacted", [{ policy: aPolicy({ redaction: { body: true, headers: [] } }) }]],
    ["with a label", [{ policy: aPolicy({ labels: ["a"] }) }]],
    [
      "with a flow key",
      [{ policy: aPolicy({ flow: { key: "a", limits: { rate: 1 } as never } }) }],
    ],
    ["of a derived id", [{ id: callbackId(newId(), 0) }]],
    ["of a group", [{ origin: { ...origin, group: { name: "a" } } }]],
    ["of a schedule", [{ origin: { ...origin, scheduleId: "a" } }]],
    ["of a queue", [{ origin: { ...origin, queueName: "a" } }]],
    ["of a fan-out", [{ bodyOf: newId() }]],
    ["of a later format", [{ format: 2 }]],
    ["with a heavy body", [{ body: new Uint8Array(namedBodyBytesMax + 1) }]],
  ])("%s", (_, given) => {
    expect(ownFactOf(settledWith(...given))).toBeUndefined();
  });
});
