/** The lines of one tenant, and which of its messages may be in the store without a hint here. Owned by `Lines`. */
import { type MessageId, type TenantId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";
import { countedBytes } from "./body-bytes.ts";

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

type Line = {
  readonly waiting: Waiting[];
  /** When the line was made or last served, counted in turns. The line of an origin with the lowest number is next. */
  servedAt: number;
};

/** An origin's hash, of 32 bits, and above them a bit for heavy bodies and a bit for claimed messages. */
export type LineKey = number;
const heavyLine = 2 ** 32;
const claimedLine = 2 ** 33;
const linesOf = [0, heavyLine, claimedLine, claimedLine + heavyLine] as const;
export const hintKey = (origin: number, bytes?: number): LineKey =>
  countedBytes(bytes) > 0 ? origin + heavyLine : origin;
export const claimedKey = (origin: number, bytes?: number): LineKey =>
  hintKey(origin, bytes) + claimedLine;
export const originOf = (key: LineKey): number => key % heavyLine;
export const isHeavy = (key: LineKey): boolean => key % claimedLine >= heavyLine;
const isOfClaimed = (key: LineKey): boolean => key >= claimedLine;

class SomeLines {
  readonly lines = new Map<LineKey, Line>();
  /** The number of lines whose messages are to be claimed; only those are pulled. */
  toClaim = 0;

  put(key: LineKey, line: Line): void {
    this.lines.set(key, line);
    if (!isOfClaimed(key)) this.toClaim += 1;
  }

  remove(key: LineKey): Line | undefined {
    const line = this.lines.get(key);
    if (this.lines.delete(key) && !isOfClaimed(key)) this.toClaim -= 1;
    return line;
  }
}

export class TenantLines {
  readonly tenant: TenantId;
  /** Lines not known to lack room for their first; the first line is next. */
  readonly ready = new SomeLines();
  /** Lines that wait for a slot of their origin or for bytes. */
  readonly blocked = new SomeLines();
  size = 0;
  /** By each full line that has dropped hints, how many were taken from it since the store was asked. */
  readonly #lacking = new Map<LineKey, number>();
  #droppedSince = false;
  /** Whether the last pull left nothing beside the blocked origins; reset when a line runs dry or a hint is dropped. */
  #othersAsked = false;

  constructor(tenant: TenantId) {
    this.tenant = tenant;
  }

  at(key: LineKey): Line | undefined {
    return this.blocked.lines.get(key) ?? this.ready.lines.get(key);
  }

  get isDry(): boolean {
    return this.ready.toClaim === 0 && !(this.blocked.toClaim > 0 && this.#othersAsked);
  }

  all(): readonly Waiting[] {
    return [this.ready, this.blocked].flatMap(({ lines }) =>
      [...lines.values()].flatMap(({ waiting }) => waiting),
    );
  }

  /** Adds to a line, which is ready if it is new. */
  push(key: LineKey, next: Waiting, turn: number): void {
    this.size += 1;
    const line = this.at(key);
    if (line) line.waiting.push(next);
    else this.ready.put(key, { waiting: [next], servedAt: turn });
  }

  /** Takes the first of a ready line, and moves the line to the end. */
  take(key: LineKey, turn: number): Waiting | undefined {
    const line = this.ready.remove(key);
    const next = line?.waiting.shift();
    if (!line || !next) return undefined;
    this.size -= 1;
    line.servedAt = turn;
    if (line.waiting.length > 0) this.ready.put(key, line);
    else if (!isOfClaimed(key)) this.#othersAsked = false;
    return next;
  }

  block(key: LineKey): void {
    const line = this.ready.remove(key);
    if (line) this.blocked.put(key, line);
  }

  /** Returns false when the line is not blocked. */
  unblock(key: LineKey): boolean {
    const line = this.blocked.remove(key);
    if (line) this.ready.put(key, line);
    return line !== undefined;
  }

  isBlockedAt(origin: number): boolean {
    return linesOf.some((line) => this.blocked.lines.has(origin + line));
  }

  /** Returns the blocked lines of an origin, the one served longest ago first. */
  blockedAt(origin: number): readonly LineKey[] {
    const { lines } = this.blocked;
    const servedAt = (key: LineKey): number => lines.get(key)?.servedAt ?? 0;
    return linesOf
      .map((line) => origin + line)
      .filter((key) => lines.has(key))
      .toSorted((one, other) => servedAt(one) - servedAt(other));
  }

  /** Remembers that a hint was dropped. `lacking`: its line is full, and lacks the hint as long as the line goes on. */
  drop(key: LineKey, lacking: boolean): void {
    this.#droppedSince = true;
    if (lacking && !this.#lacking.has(key)) this.#lacking.set(key, 0);
    if (!this.blocked.lines.has(key)) this.#othersAsked = false;
  }

  /** Drops the last hint of a blocked line that is longer than `min`. Returns false when none of the first `looks` lines is. */
  dropLast(min: number, looks: number): boolean {
    let left = looks;
    for (const [key, { waiting }] of this.blocked.lines) {
      if (left-- === 0) return false;
      if (isOfClaimed(key) || waiting.length <= min) continue;
      waiting.pop();
      this.size -= 1;
      this.drop(key, true);
      return true;
    }
    return false;
  }

  /** Counts a hint taken from a line. Returns how many were taken since the store was asked for the hints that the line lacks. */
  countTaken(key: LineKey): number | undefined {
    const taken = this.#lacking.get(key);
    if (taken === undefined) return undefined;
    this.#lacking.set(key, taken + 1);
    return taken + 1;
  }

  /** Returns what to pull. Lines that lack hints and have given `overdueAt` since are pulled, too. */
  ask(overdueAt: number): Drained {
    const overdue = new Set<number>();
    for (const [key, taken] of this.#lacking) if (taken >= overdueAt) overdue.add(originOf(key));
    const except = new Set<number>();
    const known = new Set<MessageId>();
    for (const { lines } of [this.ready, this.blocked]) {
      for (const [key, { waiting }] of lines) {
        if (isOfClaimed(key)) continue;
        if (!overdue.has(originOf(key))) except.add(originOf(key));
        else for (const each of waiting) if (isHint(each)) known.add(each.id);
      }
    }
    for (const key of this.#lacking.keys())
      if (!except.has(originOf(key))) this.#lacking.set(key, 0);
    this.#droppedSince = false;
    return { tenant: this.tenant, except: [...except], known };
  }

  /**
   * Takes the answer to a pull, and reports whether the store may have more: hints are lacking until a pull without
   * exceptions was not full and no hint was dropped meanwhile.
   */
  answered(except: readonly number[], isFull: boolean): boolean {
    const isCurrent = !isFull && !this.#droppedSince;
    if (isCurrent && this.#lacking.size > 0) {
      const excepted = new Set(except);
      for (const key of this.#lacking.keys())
        if (!excepted.has(originOf(key))) this.#lacking.delete(key);
    }
    this.#othersAsked = !isFull;
    return !isCurrent || except.length > 0;
  }
}
