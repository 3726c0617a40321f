/** Receives the events that records and log write, to count them (message-log/counts.ts). */
import { type LogEvent, type TenantId } from "@posthaste/domain";
import { type MessageLog } from "@posthaste/ports";

export type EventCounts = {
  /** Counts an event that this process has written and that was not stored before. */
  add(tenant: TenantId, event: Pick<LogEvent, "at" | "state">): void;
  readonly read: MessageLog["counts"];
  sweep(tenant: TenantId, before: number): Promise<void>;
  close(): Promise<void>;
};
