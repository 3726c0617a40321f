/** The alarms of all that is stored: records, lanes, fan-outs, schedules, bulk actions, runs (docs/design/record#the-alarm). */
import {
  type AlarmSource,
  type BulkAction,
  type InRun,
  type LaneId,
  type MessageId,
  type MessageRecord,
  type Schedule,
  type TenantId,
} from "@posthaste/domain";
import { type Hint } from "./records.ts";

/** What an alarm calls for. */
export type Rung =
  | { readonly kind: "hint"; readonly hint: Hint }
  /** Grant it, or give turns, now: its alarm was due, or a record of it has just got into line. */
  | { readonly kind: "lane"; readonly lane: LaneId }
  /** Go on making its children. */
  | { readonly kind: "fanOut"; readonly id: MessageId; readonly tenant: TenantId }
  /** Of a message that is not finished: its outbox was not cleared in time. Without body and outbox, since these ring whatever room there is. */
  | { readonly kind: "outbox"; readonly id: MessageId; readonly tenant: TenantId }
  /** The same of one that is finished. Without the body where all that is left are facts. */
  | { readonly kind: "followUp"; readonly record: MessageRecord }
  /** A slot of it is due, or under way. */
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  /** Go on with it. */
  | { readonly kind: "bulkAction"; readonly action: BulkAction }
  /** The time of a wait is up. */
  | { readonly kind: "run"; readonly run: Pick<InRun, "key" | "root"> };

/** `more`: one of the sources, or the lanes, was at its limit. */
export type Rings = { readonly rung: readonly Rung[]; readonly more: boolean };

export interface Alarms {
  /**
   * Rings what is due in `shards`, and moves each alarm ahead: up to `limitOfEach` of the lanes, and of each of `sources`
   * (absent: of all), so that a herd of one kind holds up no other (ADR 28).
   */
  ring(
    shards: readonly number[],
    limitOfEach: number,
    sources?: readonly AlarmSource[],
  ): Promise<Rings>;
  /** The earliest of those alarms. */
  next(shards: readonly number[], sources?: readonly AlarmSource[]): Promise<number | undefined>;
}
