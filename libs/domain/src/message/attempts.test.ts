import { expect, it } from "@jest/globals";
import { aMessage } from "@posthaste/testing";
import { attemptsOf } from "./attempts.ts";
import { type AttemptFact } from "./follow-up.ts";
import { createdEvent, eventsOf, tellsFact } from "./log.ts";

const { id } = aMessage();
const refused = { status: 503, bytes: 12 };
const made = { status: 201, bytes: 70_000 };

const logged = (...facts: readonly Omit<AttemptFact, "id" | "kind">[]) => [
  { event: createdEvent(0) },
  ...facts.flatMap((each) => {
    const fact: AttemptFact = { kind: "fact", id, ...each };
    return eventsOf(fact).map((event) => (tellsFact[event.state] ? { event, fact } : { event }));
  }),
];
const failed = {
  attempt: 0,
  startedAt: 10,
  endedAt: 25,
  ended: "retry",
  answered: refused,
} as const;
const delivered = {
  attempt: 1,
  startedAt: 90,
  endedAt: 99,
  ended: "delivered",
  answered: made,
} as const;

it("the attempts of a message have time, duration, status and size, whatever their outcome", () => {
  expect(attemptsOf(logged(failed, delivered))).toMatchObject([
    { startedAt: 10, endedAt: 25, ended: "failed", answered: refused, fact: failed },
    { startedAt: 90, endedAt: 99, ended: "delivered", answered: made },
  ]);
});

it.each([
  ["was not answered", { ended: "retry", error: "no answer" }, "failed"],
  ["was cancelled", { ended: "canceled" }, "canceled"],
] as const)("an attempt that %s has time and duration", (_, how, ended) => {
  const fact = { attempt: 0, startedAt: 10, endedAt: 25, ...how };

  expect(attemptsOf(logged(fact))).toMatchObject([{ startedAt: 10, endedAt: 25, ended }]);
});

it("a message that was cancelled between two attempts has the first alone", () => {
  const canceled = { attempt: 1, startedAt: undefined, endedAt: 50, ended: "canceled" } as const;

  expect(attemptsOf(logged(failed, canceled)).map(({ ended }) => ended)).toEqual(["failed"]);
});

it("an attempt whose beginning was swept is shown as far as it is known", () => {
  const rest = logged(delivered).filter(({ event }) => event.state === "DELIVERED");

  expect(attemptsOf(rest)).toEqual([
    { startedAt: undefined, endedAt: 99, ended: "delivered", answered: made },
  ]);
});
