/**
 * The journal of a run: written from the outside, and the only basis of its verdict. The servers under test never see it. All times are
 * Unix milliseconds by the one clock of the process that publishes, receives and injects faults.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kind, type Lane, type Queue } from "./kinds.ts";

/** A publish that was answered 2xx. */
export type Ack = {
  readonly sentAt: number;
  readonly at: number;
  /** Numbers the messages of a run; a message published again under its deduplication id keeps its number. */
  readonly n: number;
  readonly kind: Kind;
  readonly id: string;
  readonly notBefore: number;
};

/** A publish that was not answered 2xx. Whether there is a message is unknown. */
export type Refusal = {
  readonly sentAt: number;
  readonly at: number;
  readonly n: number;
  readonly kind: Kind;
  /** 0 if the connection broke. */
  readonly status: number;
  /** The text of the answer, with its reason. */
  readonly text: string;
};

/** A request that reached the destination, and how it was answered. */
export type Arrival = {
  readonly at: number;
  /** When the request was answered, or its connection broke. */
  readonly until: number;
  /** -1 for callbacks. */
  readonly n: number;
  readonly id: string;
  readonly retried: number;
  /** 0 if the connection broke before the answer. */
  readonly status: number;
  readonly intact: boolean;
  readonly lane?: Lane;
  readonly queue?: Queue;
  /** Set on callbacks: the attempt that the callback reports. */
  readonly tells?: Told;
};
export type Told = {
  readonly source: string;
  readonly retried: number;
  /** Set on failure callbacks. */
  readonly dlqId?: string;
};

/** The dead letter that a failure callback named, looked up when the callback arrived. */
export type Letter = { readonly at: number; readonly dlqId: string; readonly status: number };

/**
 * An otherwise forbidden effect that a fault may have.
 *
 * - repeat: an attempt is made again
 * - overlap: a lane or a queue runs more at once than it may
 * - forget: a deduplication id is accepted anew, a rate window starts anew
 * - break: connections of callers break
 * - refuse: publishes are answered 503
 * - refuse deduplicated: publishes that ask for deduplication are answered 503
 */
export type Leave = "repeat" | "overlap" | "forget" | "break" | "refuse" | "refuse deduplicated";

export type Fault = {
  /** Such as "deliverer 1 killed". */
  readonly what: string;
  readonly leaves: readonly Leave[];
  readonly at: number;
  /** When healing began. */
  readonly until: number;
  /** When everything was whole again. */
  readonly over: number;
  /** No message published to a lane during the fault runs before healing begins. */
  readonly stopsLanes?: boolean;
};

/** The start of a run of a workflow that was answered 2xx. Runs have numbers of their own. */
export type RunStart = {
  readonly n: number;
  readonly id: string;
  readonly sentAt: number;
  readonly at: number;
};

/** A delivery of a run at its endpoint. */
export type Visit = {
  readonly at: number;
  readonly until: number;
  /** The id of the run, or of a run that it has invoked. */
  readonly run: string;
  readonly id: string;
  /** 0 if the connection broke before the answer. */
  readonly status: number;
  /** The digest of the request's body. */
  readonly digest: string;
  /** The steps whose code ran in this delivery. */
  readonly steps: readonly string[];
};

/** The return value of a run's route. */
export type RunEnd = { readonly n: number; readonly at: number; readonly value: number };

/** A schedule of every minute. */
export type ScheduleLife = {
  readonly id: string;
  readonly askedAt: number;
  readonly madeAt: number;
  /** When its removal was requested and answered. */
  endsFrom?: number;
  endedAt?: number;
};

/** A request with the message of a slot. */
export type Firing = { readonly at: number; readonly schedule: string; readonly id: string };

export type History = {
  readonly schedules: readonly Readonly<ScheduleLife>[];
  readonly firings: readonly Firing[];
  readonly starts: readonly RunStart[];
  readonly visits: readonly Visit[];
  readonly ends: readonly RunEnd[];
  readonly acks: readonly Ack[];
  readonly refusals: readonly Refusal[];
  readonly arrivals: readonly Arrival[];
  readonly letters: readonly Letter[];
  readonly faults: readonly Fault[];
};

export class Journal implements History {
  readonly acks: Ack[] = [];
  readonly refusals: Refusal[] = [];
  readonly arrivals: Arrival[] = [];
  readonly letters: Letter[] = [];
  readonly faults: Fault[] = [];
  readonly starts: RunStart[] = [];
  readonly visits: Visit[] = [];
  readonly ends: RunEnd[] = [];
  readonly schedules: ScheduleLife[] = [];
  readonly firings: Firing[] = [];

  /** Saves a file of JSON lines for each list, and what the servers have printed, to find out what happened. Returns the folder. */
  save(output: string): string {
    const folder = mkdtempSync(join(tmpdir(), "posthaste-journals-"));
    writeFileSync(join(folder, "output.txt"), output);
    const { acks, refusals, arrivals, letters, faults, starts, visits, ends } = this;
    const messages = { acks, refusals, arrivals, letters };
    const runs = { starts, visits, ends };
    const timed = { schedules: this.schedules, firings: this.firings };
    for (const [name, entries] of Object.entries({ ...messages, faults, ...runs, ...timed })) {
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`);
      writeFileSync(join(folder, `${name}.jsonl`), lines.join(""));
    }
    return folder;
  }
}

/** Returns a time that runs on evenly when the host's clock is set. */
export const now = (): number => performance.timeOrigin + performance.now();
