/** The two ways to publish: as fast as the answers come (closed loop), and at a fixed rate whatever happens (open loop). */
import { setTimeout as sleep } from "node:timers/promises";
import { type Book } from "./book.ts";
import { Connection } from "./connection.ts";
import { copyOf, renumber, type Template } from "./template.ts";

export type Target = { readonly port: number; readonly template: Template };

/** Each connection sends its next request when the answer has come, until the time or the book is full. */
export async function closedLoop(
  { port, template }: Target,
  book: Book,
  { connections, forMs }: { readonly connections: number; readonly forMs: number },
): Promise<void> {
  const opened = await openMany(port, connections);
  const until = performance.now() + forMs;
  await Promise.all(
    opened.map(
      (connection) =>
        new Promise<void>((resolve, reject) => {
          const own = copyOf(template);
          const count = own.offsets.length;
          const next = () => {
            if (performance.now() >= until || book.sent + count > book.capacity) return resolve();
            const first = book.send(count, book.now());
            renumber(own, first);
            connection.request(own.bytes, (status) => {
              if (status === 0) return reject(new Error(`port ${port} closed a connection`));
              book.answer(first, count, status);
              next();
            });
          };
          next();
        }),
    ),
  ).finally(() => {
    for (const connection of opened) connection.close();
  });
}

export type OpenLoop = {
  readonly perSecond: number;
  readonly forMs: number;
  readonly connections: number;
};

/**
 * Sends on schedule. What finds no free connection waits, and its latency counts from when it was meant to be sent, so
 * a system that stalls cannot slow the clock it is measured by. Answers how late the sends were, in milliseconds.
 */
export async function openLoop(
  { port, template }: Target,
  book: Book,
  { perSecond, forMs, connections }: OpenLoop,
): Promise<Float64Array> {
  const idle = (await openMany(port, connections)).map((connection) => ({
    connection,
    own: copyOf(template),
  }));
  const all = [...idle];
  const total = Math.floor((perSecond * forMs) / 1000);
  const startAt = book.now();
  const intendedAt = (index: number) => startAt + (index * 1000) / perSecond;
  const lagMs = new Float64Array(total);
  let answered = 0;

  const sendDue = () => {
    while (book.sent < total && intendedAt(book.sent) <= book.now()) {
      const free = idle.shift();
      if (free === undefined) return;
      lagMs[book.sent] = book.now() - intendedAt(book.sent);
      const first = book.send(1, intendedAt(book.sent));
      renumber(free.own, first);
      free.connection.request(free.own.bytes, (status) => {
        answered++;
        book.answer(first, 1, status);
        if (free.connection.isOpen) idle.push(free);
      });
    }
  };
  const deadline = startAt + forMs + stallMsMax;
  while (book.sent < total || answered < total) {
    sendDue();
    if (book.now() > deadline) throw new Error(`port ${port} did not answer for ${stallMsMax} ms`);
    const waitMs = book.sent < total ? intendedAt(book.sent) - book.now() : 1;
    await sleep(Math.max(1, waitMs));
  }
  for (const { connection } of all) connection.close();
  return lagMs.sort();
}

const stallMsMax = 30_000;

async function openMany(port: number, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(port)));
}
