/**
 * Work that a scheduler starts without waiting for it: one task at a time per lane and per name, within bounds on number and
 * time. Alarms bring back work that was missed.
 */
import { type LaneId, limits, type MessageId, type TenantId } from "@posthaste/domain";
import { type Clock, type Log } from "@posthaste/ports";
import { type Background, type BatchKind } from "./ring.ts";
import { LanesInLine } from "./lanes-in-line.ts";

export type BackgroundParts = {
  readonly log: Log;
  readonly clock: Clock;
  readonly serve: (lane: LaneId) => Promise<void>;
  /** Works the outboxes of some messages. Returns the ids that it left. */
  readonly followUpSome: (
    tenant: TenantId,
    ids: readonly MessageId[],
  ) => Promise<readonly MessageId[]>;
  /** Called when a batch has ended: its kind may ring again, and may have set new alarms of its sources. */
  readonly batchEnded?: (kind: BatchKind) => void;
};

/** The number of tasks beyond which nothing should be rung that may cause more. */
const runningMax = 1_000;
/** The number of lanes served at once. Other lanes wait in line, by their names alone. */
const servedMax = 500;
/** The number of lanes with a failed grant that are tried again soon. Other lanes have their alarms. */
const failedMax = 10_000;
/** The number of fan-outs expanded at once. Other fan-outs wait without their bodies. */
const expandingMax = 3;
/** The number of batches of one kind held and worked at once. Outboxes are one batch only, if it holds as much as one read. */
const batchesMax = 2;
/** The number of outboxes in line, by name. Outboxes beyond it have their alarms. */
const outboxesMax = 10_000;
const outboxesPerReading = 100;
/** The time after which a task that hangs gives up its name. */
const taskMsMax = 60_000;
/** The time after which a failed grant is repeated, since the token store or the record store was away. */
const serveAgainMs = 1_000;

export class BackgroundWork implements Background {
  readonly #parts: BackgroundParts;
  readonly #lanes = new LanesInLine();
  #served = 0;
  #expanding = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #batches: Record<BatchKind, number> = {
    followUp: 0,
    schedule: 0,
    bulkAction: 0,
    run: 0,
  };
  #batchesBegun = 0;
  /** The bytes held by batches: outboxes with their messages. */
  #batchBytes = 0;
  /** The messages whose outboxes are in line; a batch holds messages of one tenant. */
  readonly #outboxes = new Map<MessageId, TenantId>();
  readonly #running = new Map<string, Promise<void>>();
  /** The names that were asked for again while they ran. */
  readonly #again = new Set<string>();
  /** The lanes whose grant has failed, with a function that cancels the repetition. */
  readonly #failed = new Map<LaneId, () => void>();
  #stopped = false;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  get hasRoom(): boolean {
    return this.#running.size < runningMax;
  }

  serve(lane: LaneId): void {
    const name = `serve ${lane}`;
    if (this.#running.has(name)) this.#again.add(name);
    else if (this.#served >= servedMax) this.#lanes.add(lane);
    else if (!this.#stopped) this.#running.set(name, this.#serveInTurn(name, lane));
  }

  async #serveInTurn(name: string, lane: LaneId): Promise<void> {
    this.#served += 1;
    await this.#carryOut(name, () => this.#serve(lane));
    this.#served -= 1;
    const next = this.#lanes.take();
    if (next !== undefined) this.serve(next);
  }

  /** Starts a task, unless its name is running. An alarm brings back the call that is ignored then. */
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
    // Bounded by the alarms: nothing rings while `runningMax` tasks run or wait.
    while (this.#expanding >= expandingMax)
      await new Promise<void>((goOn) => this.#waiting.push(goOn));
    this.#expanding += 1;
    await this.#carryOut(name, this.#stopped ? nothing : task);
    this.#expanding -= 1;
    this.#waiting.shift()?.();
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
    // Puts the rest behind the outboxes of other tenants.
    for (const id of left) this.#outboxes.set(id, tenant);
    if (this.#outboxes.size > 0 && !this.#stopped) this.#again.add(outboxesName);
  }

  mayRun(kind: BatchKind): boolean {
    return (
      this.#batches[kind] < batchesMax &&
      (kind !== "followUp" || this.#batchBytes < limits.readBytesMax)
    );
  }

  runBatch(kind: BatchKind, task: () => Promise<void>, bytes = 0): void {
    if (this.#stopped) return;
    const name = `${kind} ${++this.#batchesBegun}`;
    this.#batches[kind] += 1;
    this.#batchBytes += bytes;
    // Counts a batch until it has ended, also beyond `taskMsMax`, since it holds its memory for as long.
    const counted = async (): Promise<void> => {
      try {
        await task();
      } finally {
        this.#batches[kind] -= 1;
        this.#batchBytes -= bytes;
        this.#parts.batchEnded?.(kind);
      }
    };
    this.#running.set(name, this.#carryOut(name, counted));
  }

  /** Starts no more tasks, and waits for the running ones. */
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

  async #serve(lane: LaneId): Promise<void> {
    this.#failed.get(lane)?.();
    this.#failed.delete(lane);
    try {
      await this.#parts.serve(lane);
    } catch (error) {
      if (!this.#stopped && this.#failed.size < failedMax)
        this.#failed.set(
          lane,
          this.#parts.clock.after(serveAgainMs, () => this.serve(lane)),
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
      // Runs in the same turn as the last look at `#again`, so that a later caller starts a new task and none is forgotten.
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
