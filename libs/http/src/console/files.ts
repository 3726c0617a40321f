/**
 * The files of a built console, in memory: read at the first request, and again when the folder was built anew.
 *
 * (1) A request for a file reads nothing; the folder is checked at most once in `lookEveryMs`.
 * (2) Answers belong to one build: the files of two are never mixed.
 * (3) Only names that a build makes are read, so no path leads out of the folder.
 */
import { hash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { type Clock } from "@posthaste/ports";

export type ConsoleFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** The digest of the bytes, without quotes. */
  readonly digest: string;
};

const lookEveryMs = 1_000;
const filesMax = 200;
const fileBytesMax = 8 * 1024 * 1024;
/** The file that a build writes last. */
const lastMade = "index.html";
const digestLength = 22;

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  json: "application/json",
};
const nameOfFile = /^[A-Za-z0-9_-]{1,100}\.(html|js|css|svg|json)$/;

const compress = promisify(gzip);

export class ConsoleFiles {
  readonly #folder: string;
  readonly #clock: Clock;
  #files: ReadonlyMap<string, ConsoleFile> = new Map();
  #madeAt = 0;
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** `name` is relative to the folder, such as `assets/main-1a2b.js`. */
  async get(name: string): Promise<ConsoleFile | undefined> {
    const passedMs = this.#clock.passedMs();
    if (passedMs - this.#lookedAt >= lookEveryMs) {
      this.#lookedAt = passedMs;
      this.#looking = this.#look();
    }
    await this.#looking;
    return this.#files.get(name);
  }

  /** Checks the folder. While it is being built or missing, the files read before stay. */
  async #look(): Promise<void> {
    const made = await stat(join(this.#folder, lastMade)).catch(() => undefined);
    if (made === undefined || made.mtimeMs === this.#madeAt) return;
    const files = await this.#read().catch(() => undefined);
    if (files === undefined) return;
    this.#files = files;
    this.#madeAt = made.mtimeMs;
  }

  async #read(): Promise<ReadonlyMap<string, ConsoleFile>> {
    const [pages, assets] = await Promise.all([
      readdir(this.#folder),
      readdir(join(this.#folder, "assets")),
    ]);
    const names = [...pages, ...assets.map((name) => `assets/${name}`)].filter((name) =>
      nameOfFile.test(name.replace(/^assets\//, "")),
    );
    if (names.length > filesMax) throw new Error("more files than a build has");
    return new Map(
      await Promise.all(
        names.map(async (name) => [name, await readConsoleFile(join(this.#folder, name))] as const),
      ),
    );
  }
}

async function readConsoleFile(path: string): Promise<ConsoleFile> {
  const bytes = await readFile(path);
  if (bytes.length > fileBytesMax) throw new Error(`${path} is larger than any file of a build`);
  return {
    type: types[path.slice(path.lastIndexOf(".") + 1)] ?? "",
    bytes,
    gzipped: await compress(bytes, { level: constants.Z_BEST_COMPRESSION }),
    digest: hash("sha256", bytes, "base64url").slice(0, digestLength),
  };
}
