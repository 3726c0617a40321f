/** Holds two messages in a queue: one has its turn and no answer until it is released, and one waits. */
import { type Client } from "./client.ts";
import { type Destination } from "./destination.ts";
import { type Scrape } from "./metrics.ts";

export async function holdTwoInAQueue(
  client: Client,
  destination: Destination,
): Promise<{ readonly release: () => void }> {
  const released = Promise.withResolvers<void>();
  destination.answers("/turn", (_, response) => void released.promise.then(() => response.end()));
  for (let n = 0; n < 2; n++)
    await client.published(destination.url("/turn"), { "service-queue-name": "held" });
  return { release: () => released.resolve() };
}

export const hasTurn = ({ value }: Scrape): boolean =>
  value("posthaste_queue_depth") === 1 && (value("posthaste_queue_oldest_turn_seconds") ?? 0) > 0;
