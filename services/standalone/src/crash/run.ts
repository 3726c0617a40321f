/** The crash run: a real server process, `kill -9` at random moments while others publish, then the judgement. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { developmentToken, freePort, ServerProcess } from "../e2e/server-process.ts";
import { check, type Verdict } from "./checker.ts";
import { createDestination } from "./destination.ts";
import { type Ack, type Arrival, Journal, type Kill, readJournal } from "./journal.ts";
import { Publisher } from "./publisher.ts";

export type CrashRun = {
  readonly kills: number;
  readonly seed: number;
  readonly aliveMsMin: number;
  readonly aliveMsMax: number;
};

const token = developmentToken;
const quietMs = 3_000;
const settleMsMax = 90_000;

export async function runCrashes({
  kills,
  seed,
  aliveMsMin,
  aliveMsMax,
}: CrashRun): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-crash-"));
  const paths = { acks: join(folder, "acks.jsonl"), arrivals: join(folder, "arrivals.jsonl") };
  for (const path of Object.values(paths)) writeFileSync(path, "");
  const acks = new Journal<Ack>(paths.acks);
  const arrivals = new Journal<Arrival>(paths.arrivals);
  const destination = createDestination(arrivals).listen(0, "127.0.0.1");
  await once(destination, "listening");
  const port = await freePort();
  const server = new ServerProcess({
    POSTHASTE_PORT: String(port),
    POSTHASTE_DATA_DIR: join(folder, "data"),
  });
  await server.start();
  const publisher = new Publisher(
    { port, token, destination: `http://127.0.0.1:${(destination.address() as AddressInfo).port}` },
    acks,
  );
  publisher.start();
  const chance = mulberry32(seed);
  const killed: Kill[] = [];
  for (let i = 0; i < kills; i++) {
    await pause(aliveMsMin + chance() * (aliveMsMax - aliveMsMin));
    const at = Date.now();
    await server.kill();
    await server.start();
    killed.push({ at, readyAt: Date.now() });
  }
  await publisher.stop();
  await quiet(server, port);
  await server.stop();
  destination.closeAllConnections();
  destination.close();
  acks.flush();
  arrivals.flush();
  const verdict = check(
    readJournal(paths.acks) as Ack[],
    readJournal(paths.arrivals) as Arrival[],
    killed,
  );
  if (verdict.violations.length === 0) rmSync(folder, { recursive: true });
  return verdict;
}

/** Until no message has moved for a while: everything that will arrive has arrived. */
async function quiet(server: ServerProcess, port: number): Promise<void> {
  const until = Date.now() + settleMsMax;
  let newest = "";
  let since = Date.now();
  while (Date.now() < until && Date.now() - since < quietMs) {
    await pause(200);
    const response = await fetch(`http://127.0.0.1:${port}/v2/events?count=1`, {
      headers: { authorization: `Bearer ${token}` },
    });
    // A cursor is sealed anew for each answer.
    const { events } = (await response.json()) as { events: unknown };
    const text = JSON.stringify(events);
    if (text !== newest) since = Date.now();
    newest = text;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A small seeded generator: the moments of the kills can be asked for again. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
