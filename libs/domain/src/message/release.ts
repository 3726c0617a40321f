/** Releasing: what waits for its time, a delay or a retry, is due now. Its alarm does the rest: it rings as at the due time. */
import { isFinished, type MessageRecord, type MessageState } from "./message.ts";

export type Release =
  | {
      readonly kind: "released";
      readonly next: Extract<MessageState, { kind: "held" }>;
      readonly wakeAt: number;
    }
  /** It does not wait for a time. */
  | { readonly kind: "unknown" }
  /** In a queue its turn decides, and what comes before it. */
  | { readonly kind: "inQueue" };

/** What is of a run is its run's alone. */
export function release({ message, state }: MessageRecord, now: number): Release {
  if (isFinished(state) || message.run) return { kind: "unknown" };
  if (message.queue !== undefined) return { kind: "inQueue" };
  if (state.kind !== "held") return { kind: "unknown" };
  return {
    kind: "released",
    next: { kind: "held", dueAt: Math.min(state.dueAt, now), waitMs: 1 },
    wakeAt: now,
  };
}
