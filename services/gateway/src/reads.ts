/**
 * Reads of stored data that may be long, for holders of a seat in the room for long answers. No other file of this service asks a
 * port for a page (oxlint.config.ts).
 *
 * (1) A read ends by its bytes as well as by its rows: a page at `pageBytesMax`, a piece of a longer answer at `pieceBytesMax`.
 * (2) A read without a seat throws.
 */
import { type Seat } from "@posthaste/contract";
import {
  type DeadLetterFilter,
  type DlqId,
  type FailedRunFilter,
  type Group,
  limits,
  type LogFilter,
  type MessageId,
  type PageRequest,
  type PartName,
  type Run,
  type RunFilter,
  type TenantId,
} from "@posthaste/domain";
import {
  childrenOf,
  type GrantPorts,
  listFlowKeys,
  type PublishedGroup,
  type RunPorts,
  waitersOf,
} from "@posthaste/engine";
import {
  type AuditLog,
  type AuditPage,
  type BulkActionPage,
  type BulkActions,
  type DeadLetters,
  type MessageLog,
  type Queues,
  type RunLog,
  type RunPage,
  type ScheduleKey,
  type SchedulePage,
  type Schedules,
} from "@posthaste/ports";

export type ReadPorts = GrantPorts &
  RunPorts & {
    readonly messageLog: MessageLog;
    readonly deadLetters: DeadLetters;
    readonly runLog: RunLog;
    readonly schedules: Schedules;
    readonly queues: Queues;
    readonly bulkActions: BulkActions;
    readonly auditLog: Pick<AuditLog, "page">;
  };

export type Reads = ReturnType<typeof readsOf>;
export type ReadsIn = (seat: Seat) => Reads;

export const createReads =
  (ports: ReadPorts): ReadsIn =>
  (seat) =>
    readsOf(ports, seat);

const page = { bytesMax: limits.pageBytesMax };
const piece = { bytesMax: limits.pieceBytesMax };

function readsOf(ports: ReadPorts, seat: Seat) {
  const { messageLog, deadLetters, records, runLog, runs } = ports;
  const seated = <T>(read: () => T): T => {
    if (!seat.isTaken()) throw new Error("a read without a seat");
    return read();
  };
  return {
    log: (tenant: TenantId, filter: LogFilter, asked: PageRequest) =>
      seated(() => messageLog.list(tenant, filter, { ...page, ...asked })),
    counts: (tenant: TenantId, from: number, to: number) =>
      seated(() => messageLog.counts(tenant, from, to)),
    letters: (tenant: TenantId, filter: DeadLetterFilter, asked: PageRequest) =>
      seated(() => deadLetters.list(tenant, filter, { ...page, ...asked })),
    letter: (tenant: TenantId, id: DlqId) => seated(() => deadLetters.get(tenant, id)),
    bodies: (tenant: TenantId, ids: readonly MessageId[]) =>
      seated(() => records.getSome(tenant, ids)),
    progress: (tenant: TenantId, ids: readonly MessageId[]) =>
      seated(() => records.progress(tenant, ids)),
    runs: (tenant: TenantId, filter: RunFilter, asked: RunPage) =>
      seated(() => runLog.list(tenant, filter, { ...page, ...asked })),
    failedRuns: (tenant: TenantId, filter: FailedRunFilter, asked: RunPage) =>
      seated(() => runLog.failed(tenant, filter, { ...page, ...asked })),
    parts: (run: Run, after: PartName) => seated(() => runLog.parts(run, after)),
    attempts: (run: Run) => seated(() => runLog.attempts(run)),
    history: (run: Run, from: number) => seated(() => runs.history(run, from)),
    waiters: (tenant: TenantId, event: string) => seated(() => waitersOf(ports, tenant, event)),
    schedules: (tenant: TenantId, asked: SchedulePage) =>
      seated(() => ports.schedules.list(tenant, { ...piece, ...asked })),
    wholeSchedules: (keys: readonly ScheduleKey[]) => seated(() => ports.schedules.get(keys)),
    groups: (tenant: TenantId, asked: Parameters<ReadPorts["groups"]["list"]>[1]) =>
      seated(() => ports.groups.list(tenant, asked)),
    endpoints: (tenant: TenantId, chunks: Group["chunks"]) =>
      seated(() => ports.groups.endpoints(tenant, chunks)),
    children: (published: PublishedGroup) => seated(() => childrenOf(ports, published)),
    queues: (tenant: TenantId, asked: Parameters<Queues["list"]>[1]) =>
      seated(() => ports.queues.list(tenant, asked)),
    bulkActions: (tenant: TenantId, asked: BulkActionPage) =>
      seated(() => ports.bulkActions.list(tenant, { ...page, ...asked })),
    changes: (asked: AuditPage) => seated(() => ports.auditLog.page(asked)),
    flowKeys: (tenant: TenantId, search: string) =>
      seated(() => listFlowKeys(ports, tenant, search)),
  };
}
