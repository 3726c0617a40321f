import { type Fault, isFault, type Message } from "@posthaste/domain";
import { causeOf, type Span, type Tracer } from "@posthaste/ports";
import { type SlotMessage } from "./schedules/slot-message.ts";

/** Starts the span of `callback`, which an attempt of `source` caused. */
export function startCallback(
  tracer: Tracer,
  source: Message,
  callback: Message,
  now: number,
): Span | undefined {
  if (!tracer.isOn || source.trace === undefined) return undefined;
  return tracer.start("callback", {
    kind: "producer",
    cause: causeOf(source.trace, source.run?.createdAt ?? source.createdAt, now),
    attributes: {
      "posthaste.tenant": callback.tenant,
      "posthaste.message.id": callback.id,
      "posthaste.source.id": source.id,
    },
  });
}

/** Runs `made` in the span of a slot. The slot begins a trace, if that is sampled, and its messages join it. */
export async function inSlotSpan<R extends object>(
  tracer: Tracer,
  slot: SlotMessage,
  made: (slot: SlotMessage) => Promise<R | Fault>,
): Promise<R | Fault> {
  const { command, id, schedule } = slot;
  const span = tracer.isOn
    ? tracer.start("schedule", {
        kind: "producer",
        attributes: {
          "posthaste.tenant": command.tenant,
          "posthaste.schedule.id": schedule.id,
          "posthaste.message.id": id,
        },
      })
    : undefined;
  if (!span) return made(slot);
  const outcome = await made({ ...slot, command: { ...command, trace: span.traceParent } });
  span.end(isFault(outcome) ? { error: outcome.fault } : {});
  return outcome;
}
