/** Translates the answers of the scripts (scripts.ts) to the port's. Lua's false arrives as null. */
import assert from "node:assert/strict";
import { messageId, type MessageId, type RateWindow } from "@posthaste/domain";
import { type Acquired, type Spent, type Window } from "@posthaste/ports";

export function windowIn(answer: unknown): Window {
  assert(typeof answer === "string", "the answer to a claim must be a text");
  if (answer === "") return { kind: "mine" };
  const kind = answer.startsWith("d") ? "done" : "pending";
  return { kind, id: messageId(answer.slice(1)) };
}

export function acquiredIn(answer: unknown, ids: readonly MessageId[]): Acquired {
  if (answer === null) return { granted: [], isUnknown: true };
  const [granted, opensInMs, startedAt, count] = listIn(answer);
  const opens = numberOrNoneIn(opensInMs);
  return {
    granted: numberedIn(granted, ids),
    ...(opens !== undefined && { opensInMs: opens }),
    ...windowOf(startedAt, count),
  };
}

export function peekedIn(answer: unknown): { slots: number; window?: RateWindow } {
  const [slots, startedAt, count] = listIn(answer);
  return { slots: numberIn(slots), ...windowOf(startedAt, count) };
}

export function spentIn(answer: unknown): Spent {
  const [isWithin, left] = listIn(answer);
  return { isWithin: numberIn(isWithin) === 1, left: numberIn(left) };
}

export function numberedIn(answer: unknown, ids: readonly MessageId[]): readonly MessageId[] {
  return listIn(answer).map((number) => {
    const id = ids[numberIn(number) - 1];
    assert(id !== undefined, "the answer must number the questions");
    return id;
  });
}

export function numberIn(answer: unknown): number {
  assert(typeof answer === "number", "the answer must be a number");
  return answer;
}

const numberOrNoneIn = (answer: unknown): number | undefined =>
  answer === null ? undefined : numberIn(answer);

function windowOf(startedAt: unknown, count: unknown): { window?: RateWindow } {
  const started = numberOrNoneIn(startedAt);
  return started === undefined ? {} : { window: { startedAt: started, count: numberIn(count) } };
}

export function listIn(answer: unknown): readonly unknown[] {
  assert(Array.isArray(answer), "the answer must be a list");
  return answer;
}
