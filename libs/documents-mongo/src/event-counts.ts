/** What the writers of records and of the log say to what counts their events (message-log/counts.ts). */
import { type LogEvent, type TenantId } from "@posthaste/domain";
import { type MessageLog } from "@posthaste/ports";

export type EventCounts = {
  /** This process has written it, and it was not there before. */
  add(tenant: TenantId, event: Pick<LogEvent, "at" | "state">): void;
  readonly read: MessageLog["counts"];
  sweep(tenant: TenantId, before: number): Promise<void>;
  /** Writes what was counted. */
  close(): Promise<void>;
};
