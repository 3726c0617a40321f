/** The requirements of a standalone on its host: checks each, and says how to repair a fault. */
import { execFile } from "node:child_process";
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { databaseVersion, refuseOldSqlite } from "@posthaste/embedded";
import { openFilesMax, systemClock } from "@posthaste/process";

export type Finding = {
  readonly subject: string;
  /** `warning`: a server runs, but not as well as it could. */
  readonly verdict: "ok" | "warning" | "wrong";
  readonly found: string;
  /** Absent if nothing is to be done. */
  readonly remedy?: string;
};

export type Patient = { readonly dataDir: string; readonly host: string; readonly port: number };

export async function examine({ dataDir, host, port }: Patient): Promise<readonly Finding[]> {
  return [
    versionsOf(),
    ...folderOf(dataDir),
    openFiles(openFilesMax()),
    await clockOf(),
    await addressOf(host, port),
    await addressOf(host, port + managementDistance),
  ];
}

const managementDistance = 2;
const syncs = 50;
const blockBytes = 8_192;
const slowMs = 10;
const roomBytesMin = 1024 ** 3;
const openFilesMin = 16_384;
const commandMsMax = 2_000;

const finding =
  (subject: string) =>
  (verdict: Finding["verdict"], found: string, remedy?: string): Finding => ({
    ...{ subject, verdict, found },
    ...(remedy !== undefined && { remedy }),
  });

const textOf = (error: unknown): string => (Error.isError(error) ? error.message : String(error));

function versionsOf(): Finding {
  const versions = finding("versions");
  const { node, sqlite = "" } = process.versions;
  try {
    refuseOldSqlite(sqlite);
    return versions("ok", `Node ${node}, SQLite ${sqlite}`);
  } catch (error) {
    return versions("wrong", textOf(error), "install Node 24.15 or newer");
  }
}

/** A missing folder is made for the check, and removed. */
function folderOf(dataDir: string): readonly Finding[] {
  let made: string | undefined;
  try {
    made = mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return [modeOf(dataDir), roomOf(dataDir), syncOf(dataDir), storeOf(dataDir)];
  } catch (error) {
    const remedy = `let this user make and write ${dataDir}, or name another folder`;
    return [finding("data folder")("wrong", textOf(error), remedy)];
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
  }
}

function modeOf(dataDir: string): Finding {
  const folder = finding("data folder");
  return (statSync(dataDir).mode & 0o077) === 0
    ? folder("ok", "for its owner only")
    : folder("warning", "other users can read it", `chmod 700 ${dataDir}`);
}

function roomOf(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  return free >= roomBytesMin
    ? finding("disk")("ok", found)
    : finding("disk")("warning", found, "make room: a message takes about 1 KiB and its body");
}

/** Each publish waits for a sync of the disk. */
function syncOf(dataDir: string): Finding {
  const clock = systemClock();
  const path = join(dataDir, `doctor-${process.pid}`);
  const file = openSync(path, "wx", 0o600);
  try {
    const block = Buffer.alloc(blockBytes);
    const times = Array.from({ length: syncs }, () => {
      const startedAt = clock.passedMs();
      writeSync(file, block);
      fdatasyncSync(file);
      return clock.passedMs() - startedAt;
    }).toSorted((a, b) => a - b);
    const median = times[syncs / 2] ?? 0;
    const found = `a sync takes ${median.toFixed(1)} ms, the slowest of ${syncs} ${(times.at(-1) ?? 0).toFixed(1)}`;
    return median <= slowMs
      ? finding("sync")("ok", found)
      : finding("sync")("warning", found, "use a local SSD: each publish takes as long");
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

function storeOf(dataDir: string): Finding {
  const store = finding("store");
  try {
    const version = databaseVersion(dataDir);
    return store("ok", version === undefined ? "none yet" : `schema version ${version}`);
  } catch (error) {
    const remedy = "start the newer version, or restore a backup of this version";
    return store("wrong", textOf(error), remedy);
  }
}

function openFiles(max: number | undefined): Finding {
  const files = finding("open files");
  if (max === undefined) return files("ok", "the limit is unknown");
  const remedy = `ulimit -n ${openFilesMin}, or LimitNOFILE= of systemd: each call and each caller needs one`;
  return max >= openFilesMin
    ? files("ok", `at most ${max}`)
    : files("warning", `at most ${max}`, remedy);
}

/** Due times and schedules go by the clock of the host. */
async function clockOf(): Promise<Finding> {
  const clock = finding("clock");
  const words = ["show", "--property", "NTPSynchronized", "--value"];
  const options = { timeout: commandMsMax };
  const said = await promisify(execFile)("timedatectl", words, options).catch(() => undefined);
  if (said === undefined) return clock("ok", "unknown: timedatectl is missing");
  return said.stdout.trim() === "yes"
    ? clock("ok", "synchronized by NTP")
    : clock("warning", "not synchronized by NTP", "timedatectl set-ntp true");
}

function addressOf(host: string, port: number): Promise<Finding> {
  const address = finding(`address ${host}:${port}`);
  const remedy = "stop the program that listens there, or name another port by --host and --port";
  return new Promise((resolve) => {
    const server = createServer();
    server
      .once("error", (error) => resolve(address("wrong", error.message, remedy)))
      .listen(port, host, () => server.close(() => resolve(address("ok", "free"))));
  });
}
