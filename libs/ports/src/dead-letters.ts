/** Dead letters, which settle or its follow-up inserts, and which a caller retries or removes. */
import {
  type DeadLetter,
  type DeadLetterFilter,
  type DlqId,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";
import { type Page } from "./message-log.ts";

export interface DeadLetters {
  /** Inserts the letters whose id is absent. */
  insert(letters: readonly DeadLetter[]): Promise<void>;
  /** Lists letters by id, which sorts by the time of failure. */
  list(tenant: TenantId, filter: DeadLetterFilter, page: PageRequest): Promise<Page<DeadLetter>>;
  count(tenant: TenantId, max: number): Promise<number>;
  get(tenant: TenantId, id: DlqId): Promise<DeadLetter | undefined>;
  /** Returns how many of `ids` existed. */
  remove(tenant: TenantId, ids: readonly DlqId[]): Promise<number>;
  /** Removes at most `limit` letters that failed before `before`. Returns how many. */
  sweep(tenant: TenantId, before: number, limit: number): Promise<number>;
}
