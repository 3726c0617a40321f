/**
 * Clients of batches and dead letters, in one of four seeds: batches go to destinations of which some fail, partly through a queue, and
 * their dead letters are retried, often by two clients at once and again after an unknown outcome.
 */
import { type DlqId, isFault, type PublishCommand } from "@posthaste/domain";
import { aCommand, aPolicy, aTenant, type Dice } from "@posthaste/testing";
import { answered, anyOf, type Gateways } from "./clients.ts";
import { type Gateway } from "./gateway.ts";
import { type Manner, urlOf } from "./world/destination.ts";
import { type Batch, type LetterRetry, opOf, type Publication } from "./world/history.ts";
import { type Environment } from "./world/node.ts";

export type LetterWorkload = {
  /** When the last letters are retried, since the beginning. */
  readonly lastAtMs: number;
  start(gateways: Gateways): void;
};

/** Far above the numbers of other publishes. */
const opsFrom = 3_000_000;
const manners: readonly [Manner, ...Manner[]] = ["good", "flaky", "bad", "bad"];
const queue = "batched";
const spanMs = 60_000;
const lastAtMs = 120_000;
const batchMax = 10;
const clientTimeoutMs = 15_000;
const triesMax = 8;

export function letterWorkload(
  { world, history }: Environment,
  chance: Dice,
  /** The share of seeds in which this workload runs. */
  share: number,
): LetterWorkload {
  const isOn = chance.chance(share);
  let ops = 0;

  const draw = (): Publication => {
    const op = opsFrom + ops++;
    const url = urlOf(chance.pick(manners), chance.integer(21, 23), `op-${op}`);
    const command: PublishCommand = aCommand({
      tenant: aTenant,
      destination: { kind: "url", url },
      headers: [["Op", String(op)]],
      body: new TextEncoder().encode(`item ${op}`),
      policy: aPolicy({ timeoutMs: 15_000, retriesMax: 0 }),
      ...(chance.chance(0.5) && { queue }),
    });
    return {
      ...{ op, command, deduplicationScope: undefined, tries: [], acks: [] },
      settledAt: undefined,
    };
  };

  /** Publishes once: a repeat would be another batch. */
  const publishBatch = async (gateway: Gateway | undefined): Promise<void> => {
    if (!gateway) return;
    const items = Array.from({ length: chance.integer(2, batchMax) }, draw);
    history.publications.push(...items);
    const startedAt = world.now;
    const by = { startedAt, gateway: gateway.node };
    for (const { tries } of items) tries.push(by);
    const commands = items.map(({ command }) => command);
    const outcomes = await answered(world, clientTimeoutMs, gateway.publishMany(commands));
    const at = world.now;
    const batch: Batch = { items: [] };
    for (const [i, item] of items.entries()) {
      item.settledAt = at;
      const made = outcomes && !isFault(outcomes) ? outcomes[i] : undefined;
      if (!made || !("messageId" in made)) continue;
      const { messageId: id, url, deduplicated } = made;
      item.acks.push({ ...by, at, answers: [{ id, url, deduplicated }] });
      batch.items.push({ id, queue: item.command.queue });
    }
    history.batches.push(batch);
    history.count("batched", batch.items.length);
  };

  const retrySome = async (gateways: Gateways): Promise<void> => {
    const gateway = anyOf(chance, gateways());
    const letters = gateway && (await answered(world, clientTimeoutMs, gateway.letters(aTenant)));
    const own = (letters ?? []).filter(({ message }) => opOf(message) >= opsFrom);
    const chosen = own.filter(() => chance.chance(0.5));
    if (chosen.length === 0) return;
    for (const { id, message } of chosen) history.lettersAsked.set(id, opOf(message));
    const ids = chosen.map(({ id }) => id);
    const retries = chance.chance(0.5) ? [ids, ids] : [ids];
    await Promise.all(retries.map((each) => retryUntilKnown(each, gateways)));
  };

  const retryUntilKnown = async (letters: readonly DlqId[], gateways: Gateways): Promise<void> => {
    const retry: LetterRetry = { letters, made: [], endedAt: undefined };
    history.letterRetries.push(retry);
    for (let tries = 0; tries < triesMax; tries++) {
      const gateway = anyOf(chance, gateways());
      const asked = gateway?.retryLetters(aTenant, letters);
      const made = asked && (await answered(world, clientTimeoutMs, asked));
      // A missing letter was taken by another retry, or by an earlier one of this client.
      if (made && isFault(made) && made.fault === "not_found") break;
      if (made && !isFault(made)) {
        retry.made.push(...made);
        history.count("retriedLetters", made.length);
        break;
      }
      await world.wait(chance.integer(100, 3_000));
    }
    retry.endedAt = world.now;
  };

  return {
    lastAtMs: isOn ? lastAtMs : 0,
    start: (gateways) => {
      if (!isOn) return;
      for (let nth = chance.integer(3, 8); nth > 0; nth--)
        world.after(chance.integer(0, spanMs), () => void publishBatch(anyOf(chance, gateways())));
      for (let nth = chance.integer(4, 12); nth > 0; nth--)
        world.after(chance.integer(spanMs / 4, lastAtMs), () => void retrySome(gateways));
    },
  };
}
