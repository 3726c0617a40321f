/**
 * The store of schedules (docs/design/schedules#the-record). A write succeeds only if the stored version is one lower
 * than the written one, so that one of several concurrent writes wins. A call that rejects has an unknown outcome and
 * may be repeated: the repeat finds its own earlier write by the version, and leaves another writer's alone.
 */
import {
  type Schedule,
  type ScheduleId,
  type TenantId,
  type WholeSchedule,
} from "@posthaste/domain";
import { type Intake } from "./intake.ts";

export type ScheduleKey = { readonly tenant: TenantId; readonly id: ScheduleId };

export type SchedulePlace = { readonly createdAt: number; readonly id: ScheduleId };

export type SchedulePage = {
  readonly after?: SchedulePlace;
  readonly limit: number;
  readonly bytesMax?: number;
};

export interface Schedules {
  /** Stores the first version of a schedule, or a later one whole. Without `body` the stored body stays. Durable when it resolves. */
  put(schedule: Schedule & { readonly body?: Uint8Array }, intake: Intake): Promise<boolean>;
  /**
   * Writes the fields that change while a schedule fires: all but the body and the fields that a caller sets. A crash may undo
   * the write; the work is then done again.
   */
  move(schedules: readonly Schedule[]): Promise<readonly boolean[]>;
  get(keys: readonly ScheduleKey[]): Promise<readonly (WholeSchedule | undefined)[]>;
  /** Returns schedules after `after`, oldest first, up to the one that reaches `bytesMax` bytes. An empty list means there are no more. */
  list(tenant: TenantId, page: SchedulePage): Promise<readonly Schedule[]>;
  /** Counts the tenant's schedules; may lag by seconds. */
  count(tenant: TenantId): Promise<number>;
  /** Removes a schedule. Does nothing when there is none. */
  remove(key: ScheduleKey): Promise<void>;
}
