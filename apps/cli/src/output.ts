/** Prints tables on a terminal and JSON elsewhere. Text from a server cannot move the cursor. */
import { styleText } from "node:util";
import Table from "cli-table3";

export type Stream = {
  readonly isTTY?: boolean;
  /** Reports whether the stream shows colours, by its kind and by NO_COLOR. */
  hasColors?(environment: object): boolean;
  write(text: string): unknown;
};

export type Column<T> = readonly [title: string, of: (item: T) => unknown];

const noBorders = {
  ...{ top: "", "top-mid": "", "top-left": "", "top-right": "" },
  ...{ bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" },
  ...{ left: "", "left-mid": "", mid: "", "mid-mid": "" },
  ...{ right: "", "right-mid": "", middle: "  " },
};
const cellCharsMax = 80;

export class Output {
  /** Prints JSON, one value a line. */
  readonly isJson: boolean;
  readonly #out: Stream;
  readonly #progress: Stream | undefined;
  readonly #paints: boolean;

  constructor(out: Stream, err: Stream, wantsJson: boolean, env: object = {}) {
    this.isJson = wantsJson || out.isTTY !== true;
    this.#out = out;
    this.#progress = err.isTTY === true ? err : undefined;
    this.#paints = !this.isJson && out.hasColors?.(env) === true;
  }

  /** Prints a list: a table, or a line of JSON for each item. */
  rows<T>(items: readonly T[], columns: readonly Column<T>[]): void {
    if (this.isJson) for (const item of items) this.json(item);
    else if (items.length === 0) this.#line("nothing");
    else
      this.#table([
        columns.map(([title]) => this.#painted("dim", title)),
        ...items.map((item) => this.#row(cells(item, columns))),
      ]);
  }

  item(item: object): void {
    if (this.isJson) this.json(item);
    else
      this.#table(
        Object.entries(item).map(([name, value]) => [
          this.#painted("dim", name),
          ...this.#row([shownAs(name, value)]),
        ]),
      );
  }

  /** Prints the result of a command. `json` is the same for programs. */
  done(text: string, json: object = {}): void {
    if (this.isJson) this.json(json);
    else this.#line(text);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.#write(this.#row([text]).join(""));
  }

  json(value: unknown): void {
    this.#out.write(`${escaped(JSON.stringify(value))}\n`);
  }

  /** Prints text for another program, unchanged. */
  raw(text: string): void {
    this.#out.write(text);
  }

  /** Shows progress over the last progress line, on a terminal only. */
  progress(text: string, share?: number): void {
    const bar = share === undefined ? "" : `${barOf(share)} `;
    this.#progress?.write(`\r\u001b[K${bar}${plain(text)}`);
  }

  get showsProgress(): boolean {
    return this.#progress !== undefined;
  }

  progressEnds(): void {
    this.#progress?.write("\r\u001b[K");
  }

  #line(text: string): void {
    this.#write(plain(text));
  }

  /** Writes a line, whose parts were made plain before they were coloured. */
  #write(text: string): void {
    this.#out.write(`${text}\n`);
  }

  /** Returns plain cells, with the states in them coloured. */
  #row(texts: readonly string[]): readonly string[] {
    return texts.map((text) =>
      plain(text).replace(states, (state) => this.#painted(colourOf(state), state)),
    );
  }

  #painted(format: Format, text: string): string {
    return this.#paints ? styleText(format, text, { validateStream: false }) : text;
  }

  #table(rows: readonly (readonly string[])[]): void {
    const table = new Table({
      chars: noBorders,
      style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    });
    table.push(...rows.map((row) => [...row]));
    for (const line of table.toString().split("\n")) this.#write(line.trimEnd());
  }
}

const cells = <T>(item: T, columns: readonly Column<T>[]): readonly string[] =>
  columns.map(([, of]) => cut(shown(of(item))));

const cut = (text: string): string =>
  text.length > cellCharsMax ? `${text.slice(0, cellCharsMax - 1)}…` : text;

const answerCharsMax = 1_000;

/** Shortens an answer for a terminal, so that the lines after it stay in sight. */
export function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= answerCharsMax
    ? line
    : `${line.slice(0, answerCharsMax)}… (${text.length} characters)`;
}

/** Returns `1 run`, `2 runs`. */
export const counted = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? "" : "s"}`;

export function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

type Format = "dim" | "green" | "red" | "yellow";

/** States to colour: alone in a cell, or at the end of a line of a tree. The API writes them in capitals. */
const states =
  /^(?:(?:RUN_|STEP_)?(?:DELIVERED|SUCCESS|FAILED|ERROR|RETRY|CANCELED|STARTED|ACTIVE|PROGRESS)|paused)$|(?<= {2})(?:success|failed|retry|canceled|started|progress)(?=$| {2})/;

function colourOf(state: string): Format {
  if (/DELIVERED|SUCCESS/i.test(state)) return "green";
  if (/FAILED|ERROR/i.test(state)) return "red";
  return /CANCELED/i.test(state) ? "dim" : "yellow";
}

const barLength = 20;

function barOf(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * barLength);
  const percent = Math.floor(Math.min(1, Math.max(0, share)) * 100);
  return `${"█".repeat(full)}${"░".repeat(barLength - full)} ${String(percent).padStart(3)} %`;
}

/** Shows fields of milliseconds as dates. */
const shownAs = (name: string, value: unknown): string =>
  /(?:Time|At|Before|Until)$/.test(name) && typeof value === "number"
    ? timeOf(value)
    : shown(value);

export const timeOf = (ms: number | undefined): string =>
  ms === undefined ? "" : new Date(ms).toISOString();

/** Control characters, and those that change the direction of text. */
const moving = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const plain = (text: string): string => text.replace(moving, "\ufffd");
/** Escapes moving characters without changing what the JSON means. */
const escaped = (json: string): string =>
  json.replace(moving, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
