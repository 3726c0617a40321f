/** Fills Posthaste with messages over its API, a hundred a request. */
import { type Book, type Due } from "../load/book.ts";
import { closedLoop } from "../load/senders.ts";
import { batchTemplate, type PublishHeaders } from "../load/template.ts";
import { type System } from "../systems/system.ts";
import { type Stage } from "./stage.ts";

export type Filling = {
  readonly destination: string;
  readonly messages: number;
  readonly headers: PublishHeaders;
  readonly due: Due;
  readonly withinMs: number;
};

const itemsPerBatch = 100;
const connections = 16;

/** Returns the unsettled book, and the rate. The book holds fewer messages than asked for when time ran out. */
export async function fill(
  stage: Stage,
  system: System,
  { destination, messages, headers, due, withinMs }: Filling,
): Promise<{ readonly book: Book; readonly perSecond: number }> {
  const book = stage.books.open(messages, due);
  const template = batchTemplate(destination, itemsPerBatch, headers);
  const startedAt = performance.now();
  await closedLoop({ port: system.port, template }, book, { connections, forMs: withinMs });
  const perSecond = (book.accepted * 1000) / (performance.now() - startedAt);
  return { book, perSecond };
}
