/** Events for tests, and functions that wait for their effects. */
import { type AttemptFact } from "@posthaste/domain";
import { type EventBus, type Hint, type SettledEvent } from "@posthaste/ports";
import { aMessage, aTenant, epochStart, type MessageOverrides, newId } from "@posthaste/testing";

export const aHint = (): Hint => ({ id: newId(), tenant: aTenant, origin: 7, epoch: 3, bytes: 5 });

export function aSettled(
  overrides: Partial<AttemptFact> = {},
  given: MessageOverrides = {},
): SettledEvent {
  const { body: _, ...message } = aMessage(given);
  const fact: AttemptFact = {
    kind: "fact",
    id: message.id,
    attempt: 0,
    startedAt: epochStart,
    endedAt: epochStart + 5,
    ended: "delivered",
    ...overrides,
  };
  return { id: message.id, message, fact };
}

/** Publishes the facts again until they are acknowledged, as an outbox does, even on a busy host. */
export const publishFacts = (bus: EventBus, facts: readonly SettledEvent[]): Promise<void> =>
  eventually(() =>
    bus.publish("message.settled", facts).then(
      () => true,
      () => false,
    ),
  );

/** Resolves when publishing the facts fails for the expected reason, and not because the host is busy. */
export const refuses = (
  bus: EventBus,
  facts: readonly SettledEvent[],
  reason: RegExp,
): Promise<void> =>
  eventually(() =>
    bus.publish("message.settled", facts).then(
      () => {
        throw new Error("they were taken");
      },
      (error: unknown) => reason.test(String(error)),
    ),
  );

const waitMsMax = 120_000;
const lookEveryMs = 50;

export async function eventually(
  happened: () => boolean | Promise<boolean>,
  msMax = waitMsMax,
): Promise<void> {
  const deadline = performance.now() + msMax;
  while (!(await happened())) {
    if (performance.now() > deadline)
      throw new Error(`not within ${msMax} ms: ${String(happened)}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
