/** What the crash run writes down, one JSON line each, and reads back to judge. The server under test never sees these files. */
import { appendFileSync, readFileSync } from "node:fs";

export type Kind = "plain" | "delayed" | "flaky" | "callback" | "deduplicated";

/** A publish that was answered 2xx. */
export type Ack = {
  readonly at: number;
  readonly n: number;
  readonly kind: Kind;
  readonly id: string;
  readonly notBefore: number;
};
/** A request that reached the destination, and how it was answered. */
export type Arrival = {
  readonly at: number;
  readonly n: number;
  readonly id: string;
  readonly status: number;
  readonly intact: boolean;
  /** Set on callbacks: the message whose answer this tells. */
  readonly source?: string;
};
/** The server was killed at `at` and ready again at `readyAt`. */
export type Kill = { readonly at: number; readonly readyAt: number };

export class Journal<T> {
  readonly #path: string;
  #lines: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  write(entry: T): void {
    this.#lines.push(JSON.stringify(entry));
    if (this.#lines.length >= linesBuffered) this.flush();
  }

  flush(): void {
    if (this.#lines.length > 0) appendFileSync(this.#path, `${this.#lines.join("\n")}\n`);
    this.#lines = [];
  }
}
const linesBuffered = 1_000;

export function readJournal(path: string): readonly unknown[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}
