/**
 * Work that a scheduler starts and does not wait for: one at a time per lane and per name, so many at once, each for so
 * long. What it misses, the alarm brings back.
 */
import { type LaneId, limits, type MessageId, type TenantId } from "@posthaste/domain";
import { type Clock, type Log } from "@posthaste/ports";
import { type Background } from "../ring.ts";
import { LanesInLine } from "./lanes-in-line.ts";

export type BackgroundParts = {
  readonly log: Log;
  readonly clock: Clock;
  readonly serve: (lane: LaneId) => Promise<void>;
  /** Works the outboxes of some; answers those that it has left. */
  readonly followUpSome: (
    tenant: TenantId,
    ids: readonly MessageId[],
  ) => Promise<readonly MessageId[]>;
  /** Follow-ups, schedules, bulk actions or runs may ring again. */
  readonly roomAgain?: () => void;
};

/** Beyond this nothing should be rung that may cause more. */
const runningMax = 1_000;
/** So many lanes are served at once; the rest stand in line, by their names alone. */
const servedMax = 500;
/** So many lanes whose grant has failed are tried again soon; the rest have their alarms. */
const failedMax = 10_000;
/** So many parents are expanded at once; the rest wait, without their bodies. */
const expandingMax = 3;
/** So many batches of outboxes are held and worked at once, while they are less than one reading holds; of schedules fired, of bulk actions gone on with, and of runs rung. */
const batchesMax = { "follow up": 2, fire: 2, act: 2, run: 2 } as const;
type BatchKind = keyof typeof batchesMax;
/** Outboxes in line by their names, and so many are read at once at the most; what is beyond has its alarm. */
const outboxesMax = 10_000;
const outboxesPerReading = 100;
/** A task that hangs longer holds its name no more. */
const taskMsMax = 60_000;
/** A lane whose tokens or store were away is not left until its alarm. */
const grantAgainMs = 1_000;

export class BackgroundWork implements Background {
  readonly #parts: BackgroundParts;
  readonly #lanes = new LanesInLine();
  #served = 0;
  #expanding = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #batches: Record<BatchKind, number> = { "follow up": 0, fire: 0, act: 0, run: 0 };
  #batchesBegun = 0;
  /** What outboxes that are worked hold, with their messages. */
  #batchBytes = 0;
  /** Whose outboxes are in line, one batch of one tenant at a time. */
  readonly #outboxes = new Map<MessageId, TenantId>();
  readonly #running = new Map<string, Promise<void>>();
  /** What was asked for again while it runs. */
  readonly #again = new Set<string>();
  /** Lanes whose grant has failed, and how to call its repetition off. */
  readonly #failed = new Map<LaneId, () => void>();
  #stopped = false;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  get hasRoom(): boolean {
    return this.#running.size < runningMax;
  }

  grant(lane: LaneId): void {
    const name = `grant ${lane}`;
    if (this.#running.has(name)) this.#again.add(name);
    else if (this.#served >= servedMax) this.#lanes.add(lane);
    else if (!this.#stopped) this.#running.set(name, this.#serve(name, lane));
  }

  async #serve(name: string, lane: LaneId): Promise<void> {
    this.#served += 1;
    await this.#carryOut(name, () => this.#grant(lane));
    this.#served -= 1;
    const next = this.#lanes.take();
    if (next !== undefined) this.grant(next);
  }

  /** A name that runs already is not started again: what it missed, the alarm brings back. */
  run(name: string, task: () => Promise<void>): void {
    if (!this.#stopped && !this.#running.has(name))
      this.#running.set(name, this.#carryOut(name, task));
  }

  expand(parent: MessageId, task: () => Promise<void>): void {
    const name = `expand ${parent}`;
    if (!this.#stopped && !this.#running.has(name))
      this.#running.set(name, this.#expandInTurn(name, task));
  }

  async #expandInTurn(name: string, task: () => Promise<void>): Promise<void> {
    // Bounded by what rings: nothing does while `runningMax` tasks run or wait.
    while (this.#expanding >= expandingMax)
      await new Promise<void>((goOn) => this.#waiting.push(goOn));
    this.#expanding += 1;
    await this.#carryOut(name, this.#stopped ? nothing : task);
    this.#expanding -= 1;
    this.#waiting.shift()?.();
  }

  get hasRoomToFollowUp(): boolean {
    const isLittle = this.#batchBytes < limits.readBytesMax;
    return isLittle && this.#batches["follow up"] < batchesMax["follow up"];
  }

  followUp(task: () => Promise<void>, bytes: number): void {
    this.#runBatch("follow up", task, bytes);
  }

  followUpLater(tenant: TenantId, id: MessageId): void {
    if (this.#outboxes.size < outboxesMax) this.#outboxes.set(id, tenant);
    if (this.#running.has(outboxesName)) this.#again.add(outboxesName);
    else this.run(outboxesName, () => this.#followUpSome());
  }

  async #followUpSome(): Promise<void> {
    const [first] = this.#outboxes;
    if (first === undefined) return;
    const [, tenant] = first;
    const ofTenant = [...this.#outboxes].filter(([, of]) => of === tenant);
    const ids = ofTenant.slice(0, outboxesPerReading).map(([id]) => id);
    for (const id of ids) this.#outboxes.delete(id);
    const left = await this.#parts.followUpSome(tenant, ids);
    // Behind those of other tenants.
    for (const id of left) this.#outboxes.set(id, tenant);
    if (this.#outboxes.size > 0 && !this.#stopped) this.#again.add(outboxesName);
  }

  get hasRoomToFire(): boolean {
    return this.#batches.fire < batchesMax.fire;
  }

  fire(task: () => Promise<void>): void {
    this.#runBatch("fire", task);
  }

  get hasRoomToAct(): boolean {
    return this.#batches.act < batchesMax.act;
  }

  actInBulk(task: () => Promise<void>): void {
    this.#runBatch("act", task);
  }

  get hasRoomToRingRuns(): boolean {
    return this.#batches.run < batchesMax.run;
  }

  ringRuns(task: () => Promise<void>): void {
    this.#runBatch("run", task);
  }

  #runBatch(kind: BatchKind, task: () => Promise<void>, bytes = 0): void {
    if (this.#stopped) return;
    const name = `${kind} ${++this.#batchesBegun}`;
    this.#batches[kind] += 1;
    this.#batchBytes += bytes;
    // Until it has ended, also beyond its time: what it holds is held for as long.
    const counted = async (): Promise<void> => {
      try {
        await task();
      } finally {
        this.#batches[kind] -= 1;
        this.#batchBytes -= bytes;
        this.#parts.roomAgain?.();
      }
    };
    this.#running.set(name, this.#carryOut(name, counted));
  }

  /** Starts nothing more, and waits for what runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const callOff of this.#failed.values()) callOff();
    this.#failed.clear();
    this.#lanes.clear();
    this.#outboxes.clear();
    await this.settled();
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #grant(lane: LaneId): Promise<void> {
    this.#failed.get(lane)?.();
    this.#failed.delete(lane);
    try {
      await this.#parts.serve(lane);
    } catch (error) {
      if (!this.#stopped && this.#failed.size < failedMax)
        this.#failed.set(
          lane,
          this.#parts.clock.after(grantAgainMs, () => this.grant(lane)),
        );
      throw error;
    }
  }

  async #carryOut(name: string, task: () => Promise<void>): Promise<void> {
    try {
      do {
        this.#again.delete(name);
        await this.#bounded(task);
      } while (this.#again.has(name));
    } catch (error) {
      this.#parts.log.warn("background.failed", { task: name, error });
    } finally {
      // In the same turn as the last look at `#again`: a caller that asks from now on starts anew, and none is forgotten.
      this.#running.delete(name);
      this.#again.delete(name);
    }
  }

  async #bounded(task: () => Promise<void>): Promise<void> {
    let callOff = (): void => undefined;
    const timeUp = new Promise<never>((_, reject) => {
      callOff = this.#parts.clock.after(taskMsMax, () =>
        reject(new Error(`not done within ${taskMsMax} ms`)),
      );
    });
    try {
      await Promise.race([task(), timeUp]);
    } finally {
      callOff();
    }
  }
}

const outboxesName = "outboxes";
const nothing = (): Promise<void> => Promise.resolve();
