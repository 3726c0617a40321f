/** Enqueueing: a publish whose message gets into the line of a queue (docs/design/queues). */
import { publish } from "./publish.ts";
import { type RawTarget } from "./raw-target.ts";

export const enqueue = {
  operation: "enqueue",
  kind: "publish",
  prefix: "/v2/enqueue",
  names: ["queueName"],
  summary:
    "Publish a message to a URL through a queue, which is made if it does not exist; messages of a queue are delivered in order",
  answers: publish.answers,
  faults: publish.faults,
} as const satisfies RawTarget;
