/** The span of a publish. A trace that a caller's `traceparent` names is continued, once the caller's token is known. */
import { type IncomingMessage } from "node:http";
import { type Fault, isFault, type PublishCommand } from "@posthaste/domain";
import { type Published } from "@posthaste/engine";
import { type Attributes, type Tracer } from "@posthaste/ports";

type Result = Published | readonly Published[] | Fault;
type Arrival = {
  readonly req: IncomingMessage;
  readonly arrivedAt: number;
  readonly now: number;
};

/** Hands over the command, with its trace when that is sampled. */
export async function traced(
  tracer: Tracer,
  { req, arrivedAt, now }: Arrival,
  command: PublishCommand,
  publish: (command: PublishCommand) => Promise<Result>,
): Promise<Result> {
  const parent = req.headers["traceparent"];
  const span = tracer.start("publish", {
    kind: "server",
    ...(typeof parent === "string" && { cause: { parent } }),
    begunMsAgo: now - arrivedAt,
    attributes: { "posthaste.tenant": command.tenant, "posthaste.body.bytes": command.body.length },
  });
  if (!span) return publish(command);
  try {
    const given = { ...command, trace: span.traceParent };
    const result = await tracer.within(span.traceParent, () => publish(given));
    span.end(isFault(result) ? { error: result.fault } : { attributes: attributesOf(result) });
    return result;
  } catch (error) {
    span.end({ error: "failed" });
    throw error;
  }
}

function attributesOf(published: Published | readonly Published[]): Attributes {
  if (!("messageId" in published)) return { "posthaste.endpoints": published.length };
  const { messageId, deduplicated } = published;
  return { "posthaste.message.id": messageId, "posthaste.deduplicated": deduplicated };
}
