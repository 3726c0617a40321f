import { type DeadLetter, type DlqId, type TenantId } from "@posthaste/domain";
import { type LogFilter, type Page, type PageRequest } from "./message-log.ts";

export type DeadLetterFilter = Omit<LogFilter, "states" | "hosts" | "paths"> & {
  readonly ids?: readonly DlqId[];
  readonly responseStatuses?: readonly number[];
};

export interface DeadLetters {
  /** Insert if absent, by id. */
  insert(letters: readonly DeadLetter[]): Promise<void>;
  /** Ordered by id, which sorts by the time of failure. */
  list(tenant: TenantId, filter: DeadLetterFilter, page: PageRequest): Promise<Page<DeadLetter>>;
  get(tenant: TenantId, id: DlqId): Promise<DeadLetter | undefined>;
  /** Answers how many of them were there. */
  remove(tenant: TenantId, ids: readonly DlqId[]): Promise<number>;
  sweep(before: number, limit: number): Promise<number>;
}
