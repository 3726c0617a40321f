/** Publishes in two ways: as fast as the answers come (closed loop), and at a fixed rate whatever happens (open loop). */
import { type Book } from "./book.ts";
import { Connection } from "./connection.ts";
import { spareBeats, startMetronome } from "./metronome.ts";
import { copyOf, renumber, type Template } from "./template.ts";

export type Target = { readonly port: number; readonly template: Template };

/** Sends the next request on each connection after its answer, until the time is over or the book is full. */
export async function closedLoop(
  { port, template }: Target,
  book: Book,
  { connections, forMs }: { readonly connections: number; readonly forMs: number },
): Promise<void> {
  const opened = [...(await openMany(port, connections))];
  const until = performance.now() + forMs;
  await Promise.all(
    opened.map(
      (_, place) =>
        new Promise<void>((resolve, reject) => {
          const own = copyOf(template);
          const count = own.offsets.length;
          let wasRefused = false;
          const next = () => {
            if (performance.now() >= until || book.sent + count > book.capacity) return resolve();
            const connection = opened[place];
            if (connection?.isOpen !== true) return again();
            const first = book.send(count, book.now());
            renumber(own, first);
            connection.request(own.bytes, (status) => {
              // A request refused before it was read to its end may close the connection, which the next request finds.
              if (status === 0 && !wasRefused)
                return reject(new Error(`port ${port} closed a connection`));
              book.answer(first, count, status);
              wasRefused = status >= 300;
              next();
            });
          };
          const again = () =>
            void Connection.open(port).then((connection) => {
              opened[place] = connection;
              next();
            }, reject);
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
 * Sends on schedule. A send that finds no free connection waits, and its latency counts from its intended time, so
 * that a system that stalls cannot slow the clock by which it is measured. Returns the lateness of the sends in
 * milliseconds.
 */
export async function openLoop(
  { port, template }: Target,
  book: Book,
  { perSecond, forMs, connections }: OpenLoop,
): Promise<Float64Array> {
  const opened = await openMany(port, connections);
  const idle = opened.map((connection) => ({ connection, own: copyOf(template) }));
  const total = Math.floor((perSecond * forMs) / 1000);
  const lagMs = new Float64Array(total);
  await new Promise<void>((resolve, reject) => {
    let answered = 0;
    const sendDue = () => {
      while (book.sent < total && intendedAt(book.sent) <= book.now()) {
        const free = idle.shift();
        if (free === undefined) return;
        lagMs[book.sent] = book.now() - intendedAt(book.sent);
        const first = book.send(1, intendedAt(book.sent));
        renumber(free.own, first);
        free.connection.request(free.own.bytes, (status) => {
          book.answer(first, 1, status);
          if (free.connection.isOpen) idle.push(free);
          if (++answered === total) end();
          else sendDue();
        });
      }
    };
    const metronome = startMetronome(perSecond, total + spareBeats, sendDue);
    const startAt = metronome.startAt - performance.now() + book.now();
    const intendedAt = (index: number) => startAt + (index * 1000) / perSecond;
    const stalled = setTimeout(() => {
      end(new Error(`port ${port} did not answer everything within ${stallMsMax} ms`));
    }, forMs + stallMsMax);
    const end = (error?: Error) => {
      clearTimeout(stalled);
      for (const connection of opened) connection.close();
      metronome.stop().then(() => (error === undefined ? resolve() : reject(error)), reject);
    };
  });
  return lagMs.sort();
}

const stallMsMax = 30_000;

async function openMany(port: number, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(port)));
}
