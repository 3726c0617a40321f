/**
 * The lease of the one process that builds, by the server's clock: a process that dies loses it.
 *
 * (1) Two processes never hold the lease at once. A holder that could not renew in time does not hold it any more.
 * (2) Each renewal says what the holder does.
 */
import { type Clock } from "@posthaste/ports";
import { type Collection } from "mongodb";
import { isDuplicate } from "../link/failures.ts";
import { type StoredBuilder } from "./meta.ts";

export type Lease = {
  readonly isHeld: () => boolean;
  readonly release: () => Promise<void>;
};

export type LeaseOptions = {
  readonly clock: Clock;
  readonly owner: string;
  /** Called before each renewal. Must not reject. */
  readonly doing: () => Promise<string>;
};

export async function takeLease(
  builders: Collection<StoredBuilder>,
  { clock, owner, doing }: LeaseOptions,
): Promise<Lease | undefined> {
  let stopped = false;
  let cancel = (): void => undefined;
  let renewing: Promise<void> = Promise.resolve();
  let renewedMs = clock.passedMs();
  let isOurs = await take(builders, owner, await doing());
  if (!isOurs) return undefined;

  const renew = async (): Promise<void> => {
    const sentMs = clock.passedMs();
    try {
      const set = holding(owner, await doing());
      isOurs = (await builders.updateOne({ _id, owner }, [{ $set: set }])).matchedCount > 0;
      if (isOurs) renewedMs = sentMs;
    } catch {
      // The server is away for a moment; the lease is still held.
    }
    if (!stopped && isOurs) arm();
  };
  const arm = (): void => {
    cancel = clock.after(renewEveryMs, () => void (renewing = renew()));
  };
  arm();
  return {
    isHeld: () => isOurs && !stopped && clock.passedMs() - renewedMs < leaseMs,
    release: async () => {
      stopped = true;
      cancel();
      await renewing;
      await builders.deleteOne({ _id, owner });
    },
  };
}

const _id = "builder";
const leaseMs = 10_000;
const renewEveryMs = 2_000;

const holding = (owner: string, doing: string) => ({
  owner: { $literal: owner },
  doing: { $literal: doing },
  until: { $add: ["$$NOW", leaseMs] },
});

async function take(
  builders: Collection<StoredBuilder>,
  owner: string,
  doing: string,
): Promise<boolean> {
  // An insert cannot compare with the server's time. So the first process inserts an expired lease, and the process
  // that then updates it holds it.
  const none = { owner: "", doing: "", until: new Date(0) };
  await builders
    .updateOne({ _id }, { $setOnInsert: none }, { upsert: true })
    .catch(unlessDuplicate);
  const hasRunOut = { $lt: ["$until", "$$NOW"] };
  const $set = holding(owner, doing);
  return (await builders.updateOne({ _id, $expr: hasRunOut }, [{ $set }])).matchedCount > 0;
}

/** The server refuses one of two processes that insert the same document at once. */
export function unlessDuplicate(error: unknown): void {
  if (!Error.isError(error) || !("code" in error) || !isDuplicate({ code: Number(error.code) }))
    throw error;
}

export async function heldLease(builders: Collection<StoredBuilder>): Promise<string | undefined> {
  const held = await builders.findOne({ _id, $expr: { $gte: ["$until", "$$NOW"] } });
  return held?.doing;
}
