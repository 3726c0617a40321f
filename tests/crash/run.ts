/** The crash run: a real server process, `kill -9` at random moments under a load of publishes, then the verdict. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "@posthaste/local";
import { developmentToken, ServerProcess } from "../e2e/server-process.ts";
import { seededChance } from "../faults/chance.ts";
import { check, type Verdict } from "../faults/history/checker.ts";
import { type Fault, Journal, now } from "../faults/history/journal.ts";
import { Destination } from "../faults/world/destination.ts";
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
  const journal = new Journal();
  const destination = await Destination.start((arrival) => journal.arrivals.push(arrival));
  const port = await freePort();
  const server = new ServerProcess({
    POSTHASTE_PORT: String(port),
    POSTHASTE_DATA_DIR: join(folder, "data"),
  });
  await server.start();
  const publisher = new Publisher({ port, token, destination: destination.url }, journal);
  publisher.start();
  const chance = seededChance(seed);
  for (let i = 0; i < kills; i++) {
    await pause(aliveMsMin + chance() * (aliveMsMax - aliveMsMin));
    journal.faults.push(await kill(server));
  }
  await publisher.stop();
  await quiet(server, port);
  await server.stop();
  await destination.stop();
  const verdict = check(journal);
  if (verdict.violations.length === 0) {
    rmSync(folder, { recursive: true });
    return verdict;
  }
  const places = `journals: ${journal.save(server.output)}, data: ${folder}`;
  return { ...verdict, violations: [...verdict.violations, places] };
}

async function kill(server: ServerProcess): Promise<Fault> {
  const at = now();
  await server.kill();
  const until = now();
  await server.start();
  return {
    what: "the server killed",
    leaves: ["repeat", "break", "refuse"],
    at,
    until,
    over: now(),
  };
}

/** Resolves when no message has moved for a while, so all that will arrive have arrived. */
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
