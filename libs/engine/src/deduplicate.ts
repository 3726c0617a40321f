/**
 * Deduplication that can never swallow a message (reliability.md P10): a key that exists names an id that exists or is
 * about to. A publisher that meets a pending key waits a second and then takes over with the same id.
 */
import {
  type DeduplicationKey,
  fault,
  type Fault,
  limits,
  type MessageId,
} from "@posthaste/domain";
import { type Clock, type TokenStore, type Window } from "@posthaste/ports";

export type Claimed =
  /** Insert under this id, then confirm. `takenOver`: another publish may insert the same, or have done so. */
  | { readonly kind: "insert"; readonly id: MessageId; readonly takenOver: boolean }
  | { readonly kind: "duplicate"; readonly id: MessageId };

type Entry = { readonly key: DeduplicationKey; readonly id: MessageId };

export async function claimKeys(
  ports: { tokens: TokenStore; clock: Clock },
  entries: readonly Entry[],
): Promise<readonly Claimed[] | Fault> {
  const begunAt = ports.clock.now();
  let windows = await ports.tokens.claim(entries);
  if (windows.some(({ kind }) => kind === "pending")) {
    await pause(ports.clock, limits.deduplicationPendingMs);
    windows = await ports.tokens.claim(entries);
  }
  if (ports.clock.now() - begunAt > limits.deduplicationClaimMsMax) {
    return fault(
      "outcome_unknown",
      "the deduplication window was not reached in time; repeat with the same deduplication id",
    );
  }
  return entries.map((entry, i) => verdict(entry, windows[i]));
}

function verdict(entry: Entry, window: Window | undefined): Claimed {
  if (window === undefined || window.kind === "mine")
    return { kind: "insert", id: entry.id, takenOver: false };
  if (window.kind === "done") return { kind: "duplicate", id: window.id };
  return { kind: "insert", id: window.id, takenOver: window.id !== entry.id };
}

const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => clock.after(ms, resolve));
