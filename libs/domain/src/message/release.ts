/** Releasing: what waits for its time, a delay or a retry, is due now. Its alarm does the rest: it rings as at the due time. */
import { deliveryOf } from "../workflow/delivery.ts";
import { isFinished, type Message, type MessageRecord, type MessageState } from "./message.ts";

export type Release =
  | {
      readonly kind: "released";
      readonly next: Extract<MessageState, { kind: "held" }>;
      readonly wakeAt: number;
    }
  /** It does not wait for a time. */
  | { readonly kind: "unknown" }
  /** In a queue its turn decides, and what comes before it. A step of a run sleeps as long as it said. */
  | { readonly kind: "inQueue" | "asleep" };

export function release({ message, state }: MessageRecord, now: number): Release {
  if (isFinished(state)) return { kind: "unknown" };
  if (message.queue !== undefined) return { kind: "inQueue" };
  if (state.kind !== "held") return { kind: "unknown" };
  if (isStep(message) && message.notBefore > now) return { kind: "asleep" };
  return {
    kind: "released",
    next: { kind: "held", dueAt: Math.min(state.dueAt, now), waitMs: 1 },
    wakeAt: now,
  };
}

/** Before its own time a plan or a result waits for the sleep of its step. */
function isStep({ run }: Pick<Message, "run">): boolean {
  const role = run && deliveryOf(run.part)?.role;
  return role === "plan" || role === "result";
}
