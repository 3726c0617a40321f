/** The lines of one tenant, and which of its messages may be in the store without a hint here. Owned by `Lines`. */
import { type MessageId, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { type Attempt } from "../attempts/attempt.ts";
import { countedBytes } from "../permits/permits.ts";

/** A hint, or the attempt of a message that its insert has claimed. */
export type Waiting = Hint | Attempt<"waiting">;
export const isClaimed = (waiting: Waiting): waiting is Attempt<"waiting"> => "state" in waiting;
export const isHint = (waiting: Waiting): waiting is Hint => !isClaimed(waiting);

/** A tenant some of whose messages may be in the store without a hint here. */
export type Drained = {
  readonly tenant: TenantId;
  /** Origins not to pull, since their lines have hints here. */
  readonly except: readonly number[];
  /** The hints here of the origins to pull. */
  readonly known: ReadonlySet<MessageId>;
};

/** A line at one origin: of hints or of claimed messages, light or heavy. */
export type Line = {
  readonly own: TenantLines;
  readonly origin: number;
  readonly isHeavy: boolean;
  readonly isOfClaimed: boolean;
  readonly waiting: Waiting[];
  /** When the line began or was last served, counted in turns. The line of an origin with the lowest number is next. */
  servedAt: number;
  /** How many hints were taken since the store was asked for those that the full line dropped; undefined if it lacks none. */
  takenSince: number | undefined;
};

/** An origin's hash, of 32 bits, and above them a bit for heavy bodies and a bit for claimed messages. */
const heavyLine = 2 ** 32;
const claimedLine = 2 ** 33;
const linesOf = [0, heavyLine, claimedLine, claimedLine + heavyLine] as const;

class SomeLines {
  readonly lines = new Set<Line>();
  /** The number of lines whose messages are to be claimed; only those are pulled. */
  toClaim = 0;

  add(line: Line): void {
    this.lines.add(line);
    if (!line.isOfClaimed) this.toClaim += 1;
  }

  delete(line: Line): boolean {
    const isDeleted = this.lines.delete(line);
    if (isDeleted && !line.isOfClaimed) this.toClaim -= 1;
    return isDeleted;
  }
}

export class TenantLines {
  readonly tenant: TenantId;
  /** Lines not known to lack room for their first; the first line is next. */
  readonly ready = new SomeLines();
  /** Lines that wait for a slot of their origin or for bytes. */
  readonly blocked = new SomeLines();
  size = 0;
  /** The lines with messages, and empty ones that lack hints. */
  readonly #lines = new Map<number, Line>();
  #droppedSince = false;
  /** Whether the last pull left nothing beside the blocked origins; reset when a line runs dry or a hint is dropped. */
  #othersAsked = false;

  constructor(tenant: TenantId) {
    this.tenant = tenant;
  }

  get isDry(): boolean {
    return this.ready.toClaim === 0 && !(this.blocked.toClaim > 0 && this.#othersAsked);
  }

  all(): readonly Waiting[] {
    return [...this.#lines.values()].flatMap(({ waiting }) => waiting);
  }

  /** Reports whether an equally heavy message of the origin waits. */
  hasWaiting(origin: number, bytes: number): boolean {
    const key = keyOf(origin, bytes);
    return [key, key + claimedLine].some((each) => this.#lines.get(each)?.waiting.length);
  }

  /** Returns the line in which the hint would wait; undefined if there is none. */
  lineFor({ bytes, origin }: Hint): Line | undefined {
    return this.#lines.get(keyOf(origin, bytes));
  }

  /** Adds to a line, which is ready if nothing waited there. */
  push(next: Waiting, turn: number): void {
    const { bytes, origin } = next;
    const isOfClaimed = isClaimed(next);
    const key = keyOf(origin, bytes) + (isOfClaimed ? claimedLine : 0);
    const line = this.#lines.get(key) ?? {
      ...{ own: this, origin, isHeavy: countedBytes(bytes) > 0, isOfClaimed },
      ...{ waiting: [], servedAt: turn, takenSince: undefined },
    };
    this.size += 1;
    if (line.waiting.push(next) > 1) return;
    line.servedAt = turn;
    this.#lines.set(key, line);
    this.ready.add(line);
  }

  /** Takes the first of a ready line, and moves the line to the end. */
  take(line: Line, turn: number): Waiting | undefined {
    const next = line.waiting.shift();
    if (!next) return undefined;
    this.size -= 1;
    line.servedAt = turn;
    this.ready.delete(line);
    if (line.waiting.length > 0) this.ready.add(line);
    else if (!line.isOfClaimed) this.#othersAsked = false;
    this.#forgetIfEmpty(line);
    return next;
  }

  block(line: Line): void {
    if (this.ready.delete(line)) this.blocked.add(line);
  }

  /** Returns false when the line is not blocked. */
  unblock(line: Line): boolean {
    const isBlocked = this.blocked.delete(line);
    if (isBlocked) this.ready.add(line);
    return isBlocked;
  }

  /** Returns the lines of an origin, the one served longest ago first. */
  linesAt(origin: number): readonly Line[] {
    return linesOf
      .map((line) => this.#lines.get(origin + line))
      .filter((line) => line !== undefined)
      .toSorted((one, other) => one.servedAt - other.servedAt);
  }

  /** Remembers that a hint was dropped. `lacking`: its line is full, and lacks the hint as long as the line goes on. */
  drop(line: Line | undefined, lacking: boolean): void {
    this.#droppedSince = true;
    if (line && lacking) line.takenSince ??= 0;
    if (!line || !this.blocked.lines.has(line)) this.#othersAsked = false;
  }

  /** Drops the last hint of a blocked line that is longer than `min`. Returns false when none of the first `looks` lines is. */
  dropLast(min: number, looks: number): boolean {
    let left = looks;
    for (const line of this.blocked.lines) {
      if (left-- === 0) return false;
      if (line.isOfClaimed || line.waiting.length <= min) continue;
      line.waiting.pop();
      this.size -= 1;
      this.drop(line, true);
      return true;
    }
    return false;
  }

  /** Returns what to pull. Lines that lack hints and have given `overdueAt` since are pulled, too. */
  ask(overdueAt: number): Drained {
    const lines = [...this.#lines.values()].filter(({ isOfClaimed }) => !isOfClaimed);
    const isOverdue = ({ takenSince = 0 }: Line): boolean => takenSince >= overdueAt;
    const overdue = new Set(lines.filter(isOverdue).map(({ origin }) => origin));
    const except = new Set<number>();
    const known = new Set<MessageId>();
    for (const { origin, waiting } of lines) {
      if (overdue.has(origin)) for (const { id } of waiting.filter(isHint)) known.add(id);
      else if (waiting.length > 0) except.add(origin);
    }
    for (const line of lines)
      if (line.takenSince !== undefined && !except.has(line.origin)) line.takenSince = 0;
    this.#droppedSince = false;
    return { tenant: this.tenant, except: [...except], known };
  }

  /**
   * Takes the answer to a pull, and reports whether the store may have more: hints are lacking until a pull without
   * exceptions was not full and no hint was dropped meanwhile.
   */
  answered(except: readonly number[], isFull: boolean): boolean {
    const isCurrent = !isFull && !this.#droppedSince;
    const excepted = new Set(except);
    for (const line of isCurrent ? this.#lines.values() : []) {
      if (!excepted.has(line.origin)) line.takenSince = undefined;
      this.#forgetIfEmpty(line);
    }
    this.#othersAsked = !isFull;
    return !isCurrent || except.length > 0;
  }

  #forgetIfEmpty({ isHeavy, isOfClaimed, origin, takenSince, waiting }: Line): void {
    if (waiting.length > 0 || takenSince !== undefined) return;
    this.#lines.delete(origin + (isHeavy ? heavyLine : 0) + (isOfClaimed ? claimedLine : 0));
  }
}

const keyOf = (origin: number, bytes: number): number =>
  countedBytes(bytes) > 0 ? origin + heavyLine : origin;
