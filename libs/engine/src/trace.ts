/** The spans of the engine. */
import { type Message } from "@posthaste/domain";
import { causeOf, type Span, type Tracer } from "@posthaste/ports";

/** `callback` is made of an attempt of `source`. */
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
