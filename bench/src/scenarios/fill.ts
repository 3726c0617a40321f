/** Fills Posthaste with messages through its own door, a hundred to a request where it takes batches. */
import { type Book, type Due } from "../load/book.ts";
import { closedLoop } from "../load/senders.ts";
import { batchTemplate, publishTemplate, type PublishHeaders, token } from "../load/template.ts";
import { type System } from "../systems/system.ts";
import { type Stage } from "./stage.ts";

export type Filling = {
  readonly destination: string;
  readonly messages: number;
  readonly headers: PublishHeaders;
  readonly due: Due;
  readonly withinMs: number;
};

const batch = 100;
const batchConnections = 16;
const singleConnections = 128;

/** Answers the book, not yet settled, and how fast it went. It holds fewer messages than asked when the time was short. */
export async function fill(
  stage: Stage,
  system: System,
  { destination, messages, headers, due, withinMs }: Filling,
): Promise<{ readonly book: Book; readonly perSecond: number }> {
  const book = stage.books.open(messages, due);
  const takesBatches = await hasBatches(system);
  if (!takesBatches) stage.note("filled one message to a request: there is no /v2/batch");
  const template = takesBatches
    ? batchTemplate(destination, batch, headers)
    : publishTemplate(destination, headers);
  const connections = takesBatches ? batchConnections : singleConnections;
  const startedAt = performance.now();
  await closedLoop({ port: system.port, template }, book, { connections, forMs: withinMs });
  const perSecond = (book.accepted * 1000) / (performance.now() - startedAt);
  return { book, perSecond };
}

/** An empty batch does nothing, and is answered or refused by whoever knows the path. */
async function hasBatches({ port }: System): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/batch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: "[]",
  });
  await response.arrayBuffer();
  return response.status !== 404 && response.status !== 405;
}
