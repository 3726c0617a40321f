import {
  type DeadLetter,
  type DeadLetterFilter,
  type DlqId,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";
import { type Page } from "./message-log.ts";

export interface DeadLetters {
  /** Insert if absent, by id. */
  insert(letters: readonly DeadLetter[]): Promise<void>;
  /** Ordered by id, which sorts by the time of failure. */
  list(tenant: TenantId, filter: DeadLetterFilter, page: PageRequest): Promise<Page<DeadLetter>>;
  /** How many there are, counted to `max`. */
  count(tenant: TenantId, max: number): Promise<number>;
  get(tenant: TenantId, id: DlqId): Promise<DeadLetter | undefined>;
  /** Answers how many of them were there. */
  remove(tenant: TenantId, ids: readonly DlqId[]): Promise<number>;
  /** Removes what of the tenant failed before `before`, at most `limit` letters. Answers how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
}
