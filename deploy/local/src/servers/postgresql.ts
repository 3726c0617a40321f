/** PostgreSQL with the DocumentDB extension, for FerretDB. Every commit is synced. */
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type PostgresqlBinaries } from "../fetch/postgresql.ts";
import { loopback } from "../process/ports.ts";
import { answers } from "../process/probe.ts";
import { run } from "../process/run.ts";
import { ServerProcess } from "../process/server-process.ts";

type Place = { readonly binaries: PostgresqlBinaries; readonly dir: string; readonly port: number };

const nobody = 65534;
const passwordBytes = 24;
const startTriesMax = 60;
const startPauseMs = 500;
const patientTries = 10;

export type Postgresql = {
  readonly server: ServerProcess;
  /** The folder of its data. */
  readonly data: string;
  readonly url: string;
};

export async function openPostgresql({ binaries, dir, port }: Place): Promise<Postgresql> {
  const data = join(dir, "data");
  const passwordFile = join(dir, "password");
  if (!existsSync(data)) await createCluster(binaries, { data, port, passwordFile });
  const password = readFileSync(passwordFile, "utf8");
  const command = {
    name: binaries.name,
    ...unprivileged(join(binaries.bin, "postgres"), ["-D", data, "-p", String(port)]),
    cwd: "/",
    // For the extension, which calls its own server.
    env: { ...process.env, PGPASSWORD: password },
    // Fast: it does not wait for its clients.
    stopSignal: "SIGINT" as const,
  };
  const isReady = () => answers(port, startup, (answer) => answer[0] === asksWhoWeAre);
  const url = `postgres://postgres:${password}@${loopback}:${port}/postgres`;
  return { server: new ServerProcess(command, isReady), data, url };
}

/**
 * After a `kill -9` the last of the killed server's processes may live for a moment, and a new one refuses to start
 * until they are gone. One of them, the extension's own, has been seen to spin on for ever: then it is ended here.
 */
export async function startPostgresql({ data, server }: Postgresql): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await server.start();
    } catch (error) {
      const isUsed = /still in use|Is another postmaster/.test(String(error));
      if (!isUsed || tries >= startTriesMax) throw error;
      if (tries >= patientTries) endLeftOver(data);
      await sleep(startPauseMs);
    }
  }
}

/** They work in the folder of their data, each in a process group of its own. Where there is no /proc, they are waited for. */
function endLeftOver(data: string): void {
  if (!existsSync("/proc")) return;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) === data) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has gone meanwhile, or is another user's.
    }
  }
}

/**
 * It refuses to run as root, so there it runs as an unprivileged user that may pass closed folders all the same: the one that holds
 * the data may be a temporary one, the one that holds the programs root's own.
 */
function unprivileged(file: string, args: readonly string[]): { file: string; args: string[] } {
  if (process.getuid?.() !== 0) return { file, args: [...args] };
  const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
  const capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  return { file: "setpriv", args: [...identity, ...capability, file, ...args] };
}

type Cluster = { readonly data: string; readonly port: number; readonly passwordFile: string };

/** Complete or absent, like what is in the cache. Every user of this host may reach its port, so it asks for a password. */
async function createCluster(
  { bin }: PostgresqlBinaries,
  { data, port, passwordFile }: Cluster,
): Promise<void> {
  const making = `${data}.new`;
  rmSync(making, { recursive: true, force: true });
  const password = randomBytes(passwordBytes).toString("hex");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const access = ["-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  const options = ["-E", "UTF8", "--no-locale", "--no-sync"];
  await runUnprivileged(join(bin, "initdb"), ["-D", making, ...access, ...options]);
  appendFileSync(join(making, "postgresql.conf"), settings);
  // By itself the single-user mode ends well whatever happened.
  const single = ["--single", "-D", making, "-p", String(port), "-c", "exit_on_error=on"];
  const statements = ["CREATE EXTENSION documentdb CASCADE", samePasswordForAll(password)];
  await runUnprivileged(
    join(bin, "postgres"),
    [...single, "postgres"],
    statements.map((statement) => `${statement}\n`).join(""),
  );
  renameSync(making, data);
}

/** The extension calls its own server under several names, and libpq knows one password. */
const samePasswordForAll = (password: string) =>
  "DO $$ DECLARE role name; BEGIN FOR role IN SELECT rolname FROM pg_roles WHERE rolcanlogin " +
  `LOOP EXECUTE format('ALTER ROLE %I PASSWORD %L', role, '${password}'); END LOOP; END $$`;

async function runUnprivileged(program: string, its: readonly string[], input = ""): Promise<void> {
  const { file, args } = unprivileged(program, its);
  await run(file, args, { cwd: "/", input });
}

const settings = `
listen_addresses = '${loopback}'
unix_socket_directories = ''
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
cron.use_background_workers = on
`;

/** The first message of its protocol, version 3.0; it answers `R` when it takes connections, else `E`. */
const parameters = Buffer.from("user\0postgres\0database\0postgres\0\0");
const startup = Buffer.alloc(8 + parameters.length);
startup.writeInt32BE(startup.length, 0);
startup.writeInt32BE(196_608, 4);
parameters.copy(startup, 8);
const asksWhoWeAre = "R".charCodeAt(0);
