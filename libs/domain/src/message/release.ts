/** Releases a message that waits for its time, a delay or a retry: it becomes due now. The alarm rings as at the due time. */
import { deliveryOf } from "../workflow/part-key.ts";
import { isFinished, type Message, type MessageRecord, type MessageState } from "./message.ts";

export type Release =
  | {
      readonly kind: "released";
      readonly next: Extract<MessageState, { kind: "held" }>;
      readonly wakeAt: number;
    }
  /** The message does not wait for a time. */
  | { readonly kind: "unknown" }
  /** `inQueue`: the turn of its queue decides, and messages ahead of it come first. `asleep`: a step of a run sleeps its full time. */
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

/** Reports whether a message is a step's plan or result, which has the step's sleep until its own time. */
function isStep({ run }: Pick<Message, "run">): boolean {
  const role = run && deliveryOf(run.part)?.role;
  return role === "plan" || role === "result";
}
