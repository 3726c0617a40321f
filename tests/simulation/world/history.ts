/** The history that the checks read: publishes and their answers, the effects in the stores, every call to a destination, every fault. */
import {
  type BulkActionId,
  type DlqId,
  type Headers,
  type FlowId,
  type MessageId,
  type MessageRecord,
  type PublishCommand,
  type QueueId,
  type RunId,
  type Schedule,
  type ScheduleId,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import { RunsSeen } from "../runs/seen.ts";

export type Violation = { readonly check: string; readonly text: string };

export type FaultKind =
  | "crash"
  | "restart"
  | "pause"
  | "slow"
  | "failed"
  | "clock"
  | "flush"
  | "hint"
  | "outage";
/** `node` is undefined for a fault of all processes. */
export type FaultRecord = {
  readonly kind: FaultKind;
  readonly node: string | undefined;
  readonly from: number;
  to: number;
};

/** One publish as its client sees it, repeats included. */
export type Publication = {
  readonly op: number;
  readonly command: PublishCommand;
  /** Explicit deduplication ids of one tenant and group share their keys. */
  readonly deduplicationScope: string | undefined;
  readonly tries: { readonly startedAt: number; readonly gateway: string }[];
  readonly acks: {
    readonly at: number;
    readonly startedAt: number;
    readonly gateway: string;
    readonly answers: readonly PublicationAnswer[];
  }[];
  settledAt: number | undefined;
};
type PublicationAnswer = {
  readonly id: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
};

/** One call on the wire. */
export type Exchange = {
  readonly id: MessageId;
  readonly tenant: TenantId;
  readonly epoch: number;
  readonly retried: number;
  readonly node: string;
  /** The run to which the delivery belongs. */
  readonly run:
    | {
        readonly id: RunId;
        readonly createdAt: number;
        /** Whether the endpoint is asked to start the run itself. */
        readonly probes: boolean;
      }
    | undefined;
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly sentAt: number;
  /** When the request reached the destination. */
  reachedAt: number | undefined;
  answeredAt: number | undefined;
  status: number | undefined;
  /** When the sender had nothing on the wire any more. */
  endedAt: number | undefined;
};

export type Settling = {
  readonly node: string;
  readonly at: number;
  readonly settlement: Settlement;
};
export type Life = { readonly record: MessageRecord; readonly at: number; readonly node: string };
/** A pause, from its answer until its end was requested. */
export type Pausing = { readonly lane: FlowId; readonly from: number; to: number };
export type QueuePausing = { readonly lane: QueueId; readonly from: number; to: number };
/** The deletion of a queue: when it was first requested, and when it was answered. */
export type QueueEnd = {
  readonly lane: QueueId;
  readonly askedAt: number;
  readonly answeredAt: number;
  /** True if no repeat of it can come late. */
  readonly isOnce: boolean;
};
/** A bulk action: when it was first requested, answered, and seen to have ended. */
export type BulkCancel = {
  readonly id: BulkActionId;
  readonly askedAt: number;
  readonly acceptedAt: number;
  endedAt: number | undefined;
};
/** The accepted items of a batch, in its order. */
export type Batch = {
  readonly items: { readonly id: MessageId; readonly queue: string | undefined }[];
};
/** One call's retry of dead letters, repeated until its outcome was known. */
export type LetterRetry = {
  readonly letters: readonly DlqId[];
  readonly made: MessageId[];
  endedAt: number | undefined;
};
/** A write of a schedule that held. `readAt` is when its writer had first read the version that it changes. */
export type ScheduleWrite = {
  readonly by: "caller" | "scheduler";
  readonly schedule: Schedule;
  readonly at: number;
  readonly node: string;
  readonly readAt: number;
};
export type ScheduleRemoval = { readonly by: "removal"; readonly at: number };
/** From the answer to a pause or a removal until the next change was requested, for a schedule whose callers had all their answers. */
export type ScheduleRest = { readonly key: string; readonly from: number; to: number };
export type Pinning = Pausing & { readonly parallelism: number };
export type Grant = {
  readonly lane: FlowId;
  readonly node: string;
  readonly at: number;
  readonly ids: readonly MessageId[];
  readonly rate: number | undefined;
  readonly periodMs: number;
  readonly parallelism: number | undefined;
};

export class History {
  readonly violations: Violation[] = [];
  readonly faults: FaultRecord[] = [];
  readonly publications: Publication[] = [];
  readonly exchanges: Exchange[] = [];
  /** Each insert that made a record. */
  readonly lives = new Map<MessageId, Life[]>();
  /** Group publishes that were accepted. */
  readonly fanOuts = new Map<MessageId, TenantId>();
  readonly claims = new Map<
    MessageId,
    { readonly epoch: number; readonly node: string; readonly at: number }[]
  >();
  /** Settlements that had their effect, by `id epoch`. */
  readonly applied = new Map<string, Settling>();
  /** When the log first had an entry for each message. */
  readonly logged = new Map<MessageId, number>();
  readonly cancels = new Map<MessageId, { readonly at: number; ackedAt: number | undefined }>();
  readonly grants: Grant[] = [];
  readonly pauses: Pausing[] = [];
  readonly queuePauses: QueuePausing[] = [];
  readonly queueEnds: QueueEnd[] = [];
  /** Queues whose parallelism is one. */
  readonly narrowQueues = new Set<QueueId>();
  readonly bulkCancels: BulkCancel[] = [];
  readonly batches: Batch[] = [];
  readonly letterRetries: LetterRetry[] = [];
  /** Letters whose retry was requested, each with the operation of its message. */
  readonly lettersAsked = new Map<DlqId, number>();
  /** Letters that were removed because they were retried. */
  readonly lettersTaken = new Set<DlqId>();
  /** Messages that clients asked to cancel one by one. */
  readonly askedCancels = new Set<MessageId>();
  readonly pins: Pinning[] = [];
  /** The writes by `tenant/id`, in the order of the store. */
  readonly schedules = new Map<string, (ScheduleWrite | ScheduleRemoval)[]>();
  readonly scheduleRests: ScheduleRest[] = [];
  /** The commands from which messages of schedules are made, by their `Op`. */
  readonly templates = new Map<number, PublishCommand>();
  /** Calls that began on a slot. */
  readonly uses: { readonly id: MessageId; readonly at: number }[] = [];
  readonly runs = new RunsSeen();
  readonly letters = new Map<MessageId, DlqId>();
  readonly counts = new Map<string, number>();

  violate(check: string, text: string): void {
    this.violations.push({ check, text });
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  fault(kind: FaultKind, node: string | undefined, from: number, to: number): FaultRecord {
    const record = { kind, node, from, to };
    this.faults.push(record);
    this.count(`fault.${kind}`);
    return record;
  }

  /**
   * Reports whether a fault of one of `nodes` (or of all) overlaps the interval. Faults of the bus do not count, since they explain no
   * repetition.
   */
  explains(
    nodes: readonly string[],
    from: number,
    to: number,
    kinds?: readonly FaultKind[],
  ): boolean {
    return this.faults.some(
      (fault) =>
        fault.kind !== "hint" &&
        fault.kind !== "outage" &&
        (kinds === undefined || kinds.includes(fault.kind)) &&
        fault.from <= to &&
        fault.to >= from &&
        (fault.node === undefined || nodes.includes(fault.node)),
    );
  }

  appliedOf(id: MessageId): readonly Settling[] {
    return [...this.applied.values()].filter(({ settlement }) => settlement.message.id === id);
  }
}

export const scheduleKeyText = ({
  tenant,
  id,
}: {
  readonly tenant: TenantId;
  readonly id: ScheduleId;
}): string => `${tenant}/${id}`;

/** Returns the operation that a message belongs to, as its publish says. */
export const opOf = ({ headers }: { readonly headers: Headers }): number =>
  Number(headers.find(([name]) => name === "Op")?.[1]);

export const appliedKey = (id: MessageId, epoch: number): string => `${id} ${epoch}`;
