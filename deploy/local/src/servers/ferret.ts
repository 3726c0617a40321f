/**
 * FerretDB over PostgreSQL: of all that a registry carries the nearest to MongoDB, with real indexes and real durability,
 * without transactions and change streams.
 */
import { fetchFerretdb } from "../fetch/ferretdb.ts";
import { freePort, loopback } from "../process/ports.ts";
import { accepts } from "../process/probe.ts";
import { type ProcessControls, ServerProcess } from "../process/server-process.ts";
import { dataFolder, type RunningMongo, type ServerPlace } from "./place.ts";
import { openPostgresql, type Postgresql, startPostgresql } from "./postgresql.ts";

export async function startFerret(place: ServerPlace): Promise<RunningMongo> {
  const { name, file, postgresql: binaries } = await fetchFerretdb();
  const port = place.port ?? (await freePort());
  const dir = dataFolder(place, "postgresql");
  const postgresql = await openPostgresql({ binaries, dir, port: await freePort() });
  const args = [
    `--listen-addr=${loopback}:${port}`,
    `--state-dir=${dataFolder(place, "ferretdb")}`,
    "--debug-addr=-",
    "--no-auth",
    "--telemetry=disable",
    "--log-level=warn",
  ];
  // Not an argument: every user of this host could read the password in it.
  const env = { ...process.env, FERRETDB_POSTGRESQL_URL: postgresql.url };
  const ferretdb = new ServerProcess({ name, file, args, env }, () => accepts(port), place);
  const controls = together(ferretdb, postgresql);
  await controls.restart();
  const uri = `mongodb://${loopback}:${port}/`;
  return { name, host: loopback, port, process: controls, uri };
}

/** To its clients the two are one server: they are killed together, and a pause of the first pauses both. */
function together(ferretdb: ServerProcess, postgresql: Postgresql): ProcessControls {
  const stop = async () => {
    await ferretdb.stop();
    await postgresql.server.stop();
  };
  return {
    get pid() {
      return ferretdb.pid;
    },
    get isRunning() {
      return ferretdb.isRunning;
    },
    get output() {
      return [postgresql.server.output, ferretdb.output].join("\n").trim();
    },
    kill: async (signal) => {
      await Promise.all([postgresql.server.kill(signal), ferretdb.kill(signal)]);
    },
    pause: () => ferretdb.pause(),
    resume: () => ferretdb.resume(),
    restart: async () => {
      await stop();
      await startPostgresql(postgresql);
      try {
        await ferretdb.start();
      } catch (error) {
        await postgresql.server.stop();
        throw error;
      }
    },
    stop,
  };
}
