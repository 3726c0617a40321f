/**
 * Reads of stored data that may be long, for holders of a read permit. No other file of this service asks a
 * port for a page (oxlint.config.ts).
 *
 * (1) A read ends by its bytes as well as by its rows: a page at `pageBytesMax`, a piece of a longer answer at `pieceBytesMax`.
 * (2) A read without a permit throws.
 */
import { type ReadPermit } from "@posthaste/contract";
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
export type ReadsIn = (permit: ReadPermit) => Reads;

export const createReads =
  (ports: ReadPorts): ReadsIn =>
  (permit) =>
    readsOf(ports, permit);

const page = { bytesMax: limits.pageBytesMax };
const piece = { bytesMax: limits.pieceBytesMax };

function readsOf(ports: ReadPorts, permit: ReadPermit) {
  const { messageLog, deadLetters, records, runLog, runs } = ports;
  const withPermit = <T>(read: () => T): T => {
    if (!permit.isTaken()) throw new Error("a read without a permit");
    return read();
  };
  return {
    log: (tenant: TenantId, filter: LogFilter, asked: PageRequest) =>
      withPermit(() => messageLog.list(tenant, filter, { ...page, ...asked })),
    counts: (tenant: TenantId, from: number, to: number) =>
      withPermit(() => messageLog.counts(tenant, from, to)),
    letters: (tenant: TenantId, filter: DeadLetterFilter, asked: PageRequest) =>
      withPermit(() => deadLetters.list(tenant, filter, { ...page, ...asked })),
    letter: (tenant: TenantId, id: DlqId) => withPermit(() => deadLetters.get(tenant, id)),
    bodies: (tenant: TenantId, ids: readonly MessageId[]) =>
      withPermit(() => records.getSome(tenant, ids)),
    progress: (tenant: TenantId, ids: readonly MessageId[]) =>
      withPermit(() => records.progress(tenant, ids)),
    runs: (tenant: TenantId, filter: RunFilter, asked: RunPage) =>
      withPermit(() => runLog.list(tenant, filter, { ...page, ...asked })),
    failedRuns: (tenant: TenantId, filter: FailedRunFilter, asked: RunPage) =>
      withPermit(() => runLog.failed(tenant, filter, { ...page, ...asked })),
    parts: (run: Run, after: PartName) => withPermit(() => runLog.parts(run, after)),
    attempts: (run: Run) => withPermit(() => runLog.attempts(run)),
    history: (run: Run, from: number) => withPermit(() => runs.history(run, from)),
    waiters: (tenant: TenantId, event: string) => withPermit(() => waitersOf(ports, tenant, event)),
    schedules: (tenant: TenantId, asked: SchedulePage) =>
      withPermit(() => ports.schedules.list(tenant, { ...piece, ...asked })),
    wholeSchedules: (keys: readonly ScheduleKey[]) => withPermit(() => ports.schedules.get(keys)),
    groups: (tenant: TenantId, asked: Parameters<ReadPorts["groups"]["list"]>[1]) =>
      withPermit(() => ports.groups.list(tenant, asked)),
    endpoints: (tenant: TenantId, chunks: Group["chunks"]) =>
      withPermit(() => ports.groups.endpoints(tenant, chunks)),
    children: (published: PublishedGroup) => withPermit(() => childrenOf(ports, published)),
    queues: (tenant: TenantId, asked: Parameters<Queues["list"]>[1]) =>
      withPermit(() => ports.queues.list(tenant, asked)),
    bulkActions: (tenant: TenantId, asked: BulkActionPage) =>
      withPermit(() => ports.bulkActions.list(tenant, { ...page, ...asked })),
    changes: (asked: AuditPage) => withPermit(() => ports.auditLog.page(asked)),
    flowKeys: (tenant: TenantId, search: string) =>
      withPermit(() => listFlowKeys(ports, tenant, search)),
  };
}
