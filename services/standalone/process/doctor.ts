/** What a standalone needs of its host: each need looked at, with what is wrong and how to mend it. */
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
import { databaseVersion } from "@posthaste/embedded";
import { openFilesMax, systemClock } from "@posthaste/process";

export type Finding = {
  readonly subject: string;
  /** `warning`: a server runs, and worse than it could. */
  readonly verdict: "ok" | "warning" | "wrong";
  readonly found: string;
  /** Absent where nothing is to be done. */
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

function versionsOf(): Finding {
  const { node, sqlite } = process.versions;
  return { subject: "versions", verdict: "ok", found: `Node ${node}, SQLite ${String(sqlite)}` };
}

function folderOf(dataDir: string): readonly Finding[] {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return [modeOf(dataDir), roomOf(dataDir), syncOf(dataDir), storeOf(dataDir)];
  } catch (error) {
    const found = Error.isError(error) ? error.message : String(error);
    const remedy = `let this user make and write ${dataDir}, or name another folder`;
    return [{ subject: "data folder", verdict: "wrong", found, remedy }];
  }
}

function modeOf(dataDir: string): Finding {
  const isOpen = (statSync(dataDir).mode & 0o077) !== 0;
  return isOpen
    ? {
        ...{ subject: "data folder", verdict: "warning", found: "other users may look into it" },
        remedy: `chmod 700 ${dataDir}`,
      }
    : { subject: "data folder", verdict: "ok", found: "for its owner only" };
}

function roomOf(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  return free < roomBytesMin
    ? {
        subject: "disk",
        verdict: "warning",
        found,
        remedy: "make room: a message takes about 1 KiB and its body",
      }
    : { subject: "disk", verdict: "ok", found };
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
    return median > slowMs
      ? {
          subject: "sync",
          verdict: "warning",
          found,
          remedy: "use a local SSD: each publish takes as long",
        }
      : { subject: "sync", verdict: "ok", found };
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

function storeOf(dataDir: string): Finding {
  try {
    const version = databaseVersion(dataDir);
    const found = version === undefined ? "none yet" : `schema version ${version}`;
    return { subject: "store", verdict: "ok", found };
  } catch (error) {
    const found = Error.isError(error) ? error.message : String(error);
    const remedy = "start the newer version, or restore a backup that this one has made";
    return { subject: "store", verdict: "wrong", found, remedy };
  }
}

function openFiles(max: number | undefined): Finding {
  if (max === undefined)
    return { subject: "open files", verdict: "ok", found: "the limit is not known here" };
  const found = `at most ${max}`;
  return max < openFilesMin
    ? {
        ...{ subject: "open files", verdict: "warning", found },
        remedy: `ulimit -n ${openFilesMin}, or LimitNOFILE= of systemd: each call and each caller takes one`,
      }
    : { subject: "open files", verdict: "ok", found };
}

/** Due times and schedules go by the clock of the host. */
async function clockOf(): Promise<Finding> {
  const words = ["show", "--property", "NTPSynchronized", "--value"];
  const options = { timeout: commandMsMax };
  const said = await promisify(execFile)("timedatectl", words, options).catch(() => undefined);
  if (said === undefined)
    return {
      subject: "clock",
      verdict: "ok",
      found: "timedatectl is not here to say whether it is kept",
    };
  return said.stdout.trim() === "yes"
    ? { subject: "clock", verdict: "ok", found: "kept by NTP" }
    : {
        subject: "clock",
        verdict: "warning",
        found: "not kept by NTP",
        remedy: "timedatectl set-ntp true",
      };
}

function addressOf(host: string, port: number): Promise<Finding> {
  const subject = `address ${host}:${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server
      .once("error", ({ message }) => {
        const remedy = "end what listens there, or name another by --host and --port";
        resolve({ subject, verdict: "wrong", found: message, remedy });
      })
      .listen(port, host, () =>
        server.close(() => resolve({ subject, verdict: "ok", found: "free" })),
      );
  });
}
