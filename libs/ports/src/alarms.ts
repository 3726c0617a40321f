/** The alarms of everything stored: records, lanes, fan-outs, schedules, bulk actions, runs (docs/design/record#the-alarm). */
import {
  type AlarmSource,
  type BulkAction,
  type LaneId,
  type MessageId,
  type MessageRecord,
  type RunRef,
  type Schedule,
  type TenantId,
} from "@posthaste/domain";
import { type Hint } from "./records.ts";

export type Rung =
  | { readonly kind: "hint"; readonly hint: Hint }
  /**
   * Grant slots of this flow lane, or give turns in this queue, now: the lane's alarm was due, or the ring has put a
   * record into it. May be rung twice at once.
   */
  | { readonly kind: "lane"; readonly lane: LaneId }
  | { readonly kind: "fanOut"; readonly id: MessageId; readonly tenant: TenantId }
  /**
   * The outbox of an unfinished message was not cleared in time. Carries neither body nor outbox, since these
   * alarms ring without a bound in bytes.
   */
  | { readonly kind: "outbox"; readonly id: MessageId; readonly tenant: TenantId }
  /** The outbox of a finished message was not cleared in time. The record has no body if only facts are left. */
  | { readonly kind: "followUp"; readonly record: MessageRecord }
  /** A slot of this schedule is due or under way. */
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | { readonly kind: "bulkAction"; readonly action: BulkAction }
  /** The deadline of a wait of this run has passed. */
  | { readonly kind: "run"; readonly run: RunRef };

/** `more`: the sources that reached their limit. */
export type Rings = { readonly rung: readonly Rung[]; readonly more: ReadonlySet<AlarmSource> };

export interface Alarms {
  /**
   * Rings the due alarms of `shards` and moves each of them ahead. Rings at most `limitOfEach` of each of `sources` (absent: of
   * all), so that many alarms of one kind hold up no other (ADR 28).
   */
  ring(
    shards: readonly number[],
    limitOfEach: number,
    sources?: readonly AlarmSource[],
  ): Promise<Rings>;
  /** Returns the earliest alarm of `shards` and `sources`. */
  next(shards: readonly number[], sources?: readonly AlarmSource[]): Promise<number | undefined>;
}
