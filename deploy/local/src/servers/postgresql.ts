/** PostgreSQL with the DocumentDB extension, for FerretDB. Every commit is synced. */
import { appendFileSync, chmodSync, chownSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type PostgresqlBinaries } from "../fetch/postgresql.ts";
import { loopback } from "../process/ports.ts";
import { answers } from "../process/probe.ts";
import { run } from "../process/run.ts";
import { ServerProcess } from "../process/server-process.ts";

type Place = { readonly binaries: PostgresqlBinaries; readonly dir: string; readonly port: number };

/** It refuses to run as root; this is Debian's `nobody`. */
const unprivileged = 65534;
const startTriesMax = 60;
const startPauseMs = 500;

export async function openPostgresql({ binaries, dir, port }: Place): Promise<ServerProcess> {
  const data = join(dir, "data");
  const user = userFor(dir);
  if (!existsSync(data)) await createCluster({ binaries, data, port, user });
  const command = {
    name: binaries.name,
    file: join(binaries.bin, "postgres"),
    args: ["-D", data, "-p", String(port)],
    cwd: "/",
    // Fast: it does not wait for its clients.
    stopSignal: "SIGINT" as const,
    ...user,
  };
  return new ServerProcess(command, () => answers(port, startup, (answer) => answer[0] === ok));
}

/**
 * After a `kill -9` the last of the killed server's processes may live for a moment, and a new one refuses to start
 * until they are gone.
 */
export async function startPostgresql(server: ServerProcess): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await server.start();
    } catch (error) {
      const isUsed = /still in use|Is another postmaster/.test(String(error));
      if (!isUsed || tries >= startTriesMax) throw error;
      await sleep(startPauseMs);
    }
  }
}

type User = { readonly uid?: number; readonly gid?: number };

function userFor(dir: string): User {
  if (process.getuid?.() !== 0) return {};
  // It must reach its data through the folder that we were given: a temporary one, closed to others.
  chmodSync(dirname(dir), 0o711);
  chownSync(dir, unprivileged, unprivileged);
  return { uid: unprivileged, gid: unprivileged };
}

type Cluster = {
  readonly binaries: PostgresqlBinaries;
  readonly data: string;
  readonly port: number;
  readonly user: User;
};

/** Complete or absent, like what is in the cache. */
async function createCluster({ binaries, data, port, user }: Cluster): Promise<void> {
  const making = `${data}.new`;
  rmSync(making, { recursive: true, force: true });
  const options = { cwd: "/", ...user };
  const initdb = ["-D", making, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"];
  await run(join(binaries.bin, "initdb"), initdb, options);
  appendFileSync(join(making, "postgresql.conf"), settings);
  const single = ["--single", "-D", making, "-p", String(port), "postgres"];
  const input = "CREATE EXTENSION documentdb CASCADE\n";
  await run(join(binaries.bin, "postgres"), single, { ...options, input });
  renameSync(making, data);
}

const settings = `
listen_addresses = '${loopback}'
unix_socket_directories = ''
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
cron.host = '${loopback}'
`;

/** The first message of its protocol, version 3.0; it answers `R` when it takes connections, else an error. */
const parameters = Buffer.from("user\0postgres\0database\0postgres\0\0");
const startup = Buffer.alloc(8 + parameters.length);
startup.writeInt32BE(startup.length, 0);
startup.writeInt32BE(196_608, 4);
parameters.copy(startup, 8);
const ok = "R".charCodeAt(0);
