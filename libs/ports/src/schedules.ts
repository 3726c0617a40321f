/**
 * The store of schedules (docs/design/schedules#the-record). Each write holds where the stored version is one lower than
 * that of what is written, so of several at once one comes through. A call that rejects has an unknown outcome, and may be
 * repeated: a write of ours that held is then found by its version, and another's is not touched.
 */
import {
  type Schedule,
  type ScheduleId,
  type TenantId,
  type WholeSchedule,
} from "@posthaste/domain";
import { type Intake } from "./intake.ts";

export type ScheduleKey = { readonly tenant: TenantId; readonly id: ScheduleId };

/** Where a schedule stands in its tenant's list. */
export type SchedulePlace = { readonly createdAt: number; readonly id: ScheduleId };

export type SchedulePage = {
  readonly after?: SchedulePlace;
  readonly limit: number;
  readonly bytesMax?: number;
};

export interface Schedules {
  /** Makes the first version of a schedule, or writes a later one whole; without a body the stored one stays. Durable when it resolves. */
  put(schedule: Schedule & { readonly body?: Uint8Array }, intake: Intake): Promise<boolean>;
  /** Writes what moves while a schedule fires: all but body and what a caller gives. What a crash undoes of it is done again. */
  move(schedules: readonly Schedule[]): Promise<readonly boolean[]>;
  get(keys: readonly ScheduleKey[]): Promise<readonly (WholeSchedule | undefined)[]>;
  /** Oldest first, from behind `after`, and no further than the one by which they have `bytesMax` bytes. None: there are no more. */
  list(tenant: TenantId, page: SchedulePage): Promise<readonly Schedule[]>;
  /** How many the tenant has; may lag by seconds. */
  count(tenant: TenantId): Promise<number>;
  /** Removing one that is not there is nothing. */
  remove(key: ScheduleKey): Promise<void>;
}
