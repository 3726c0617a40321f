/**
 * A gateway as its clients reach it: the handlers of the real one over the ports of a simulated process, called with
 * parsed requests. An answer may never come.
 */
import { type ReadPermit } from "@posthaste/contract";
import { gatewayHandlers, spendQuota, handlerParts } from "@posthaste/gateway";
import {
  type BulkActionId,
  defaultPlan,
  destinationPolicy,
  type DlqId,
  type Fault,
  fault,
  isActive,
  isFailed,
  isFault,
  isUnderWay,
  messageId,
  type MessageId,
  type PublishCommand,
  type Run,
  type RunId,
  type TenantId,
} from "@posthaste/domain";
import {
  beginBulkAction,
  type CancelPorts,
  childrenOf,
  notifyRun,
  placeWait,
  publish,
  type Published,
  publishMany,
  putSchedule,
  readMessage,
  type RunPorts,
  type ScheduleGiven,
  type SpendQuota,
  type WaitCommand,
  workOrDefer,
} from "@posthaste/engine";
import { type RunAddress, type ScheduleKey, type Tenant } from "@posthaste/ports";
import { type NodePorts } from "./mutate.ts";

export type Again = "restart" | "resume";

type QueueGiven = {
  readonly queueName: string;
  readonly parallelism?: number;
  readonly paused?: boolean;
};

type Ports = NodePorts & Pick<RunPorts, "local" | "named"> & Pick<CancelPorts, "local">;

const bulkCallMsMax = 60_000;

export type Gateway = ReturnType<typeof simulatedGateway>;

export function simulatedGateway(node: string, ports: Ports) {
  const parts = handlerParts({ ...ports, ...absent }, options);
  const works = gatewayHandlers(parts);
  const spend =
    (tenant: TenantId): SpendQuota =>
    (wanted) =>
      spendQuota(parts, tenantOf(tenant), wanted);
  const notified = (answer: Awaited<ReturnType<(typeof works)["notifyEvent"]>>) =>
    done(answer).json.flatMap(({ messageId: id }) => (id === undefined ? [] : messageId(id)));
  return {
    node,
    publish: async (command: PublishCommand): Promise<Published | readonly Published[] | Fault> => {
      const published = await publish(parts, command, spend(command.tenant));
      if (isFault(published) || "messageId" in published) return published;
      const all: Published[] = [];
      for await (const some of childrenOf(parts, published)) all.push(...some);
      return all;
    },
    publishMany: async (commands: readonly PublishCommand[]) => {
      const [first] = commands;
      const outcomes = first ? await publishMany(parts, commands, spend(first.tenant)) : [];
      return "refused" in outcomes ? outcomes.refused : outcomes;
    },
    read: async (tenant: TenantId, id: MessageId) =>
      (await readMessage(parts, tenant, id)) ? "found" : "nothing",
    cancel: async (tenant: TenantId, id: MessageId) =>
      !isFault(await works.cancelMessage(visitOf(tenant, { messageId: id }))),
    pause: async (tenant: TenantId, flowControlKey: string) =>
      void done(await works.pauseFlowKey(visitOf(tenant, { flowControlKey }))),
    resume: async (tenant: TenantId, flowControlKey: string) =>
      void done(await works.resumeFlowKey(visitOf(tenant, { flowControlKey }))),
    pin: async (tenant: TenantId, flowControlKey: string, parallelism: number) => {
      const query = { parallelism };
      done(await works.pinFlowKey({ ...visitOf(tenant, { flowControlKey }), query }));
    },
    unpin: async (tenant: TenantId, flowControlKey: string) => {
      const query = { parallelism: true, rate: true };
      doneOrGone(await works.unpinFlowKey({ ...visitOf(tenant, { flowControlKey }), query }));
    },
    putQueue: async (tenant: TenantId, body: QueueGiven) =>
      void done(await works.upsertQueue({ ...visitOf(tenant), body })),
    resumeQueue: async (tenant: TenantId, queueName: string) =>
      void done(await works.resumeQueue(visitOf(tenant, { queueName }))),
    endQueue: async (tenant: TenantId, queueName: string) => {
      const query = { dryRun: false };
      done(await works.removeQueue({ ...visitOf(tenant, { queueName }), query }));
    },
    letters: async (tenant: TenantId) => {
      const page = { limit: 100, order: "earliestFirst" } as const;
      return (await parts.deadLetters.list(tenant, {}, page)).items;
    },
    retryLetters: async (
      tenant: TenantId,
      ids: readonly DlqId[],
    ): Promise<readonly MessageId[] | Fault> => {
      const body = new Map([["dlqIds", ids]]);
      const made = await works.retryDeadLetters({ ...visitOf(tenant), query: new Map(), body });
      if (isFault(made)) return made;
      return "responses" in made.json
        ? made.json.responses.map((each) => messageId(each.messageId))
        : [];
    },
    /** Returns the id of the bulk action that was begun. */
    cancelLabel: async (tenant: TenantId, label: string, isAsync: boolean) => {
      const work = { kind: "cancel", filter: { labels: [label] } } as const;
      const begun = done(
        await beginBulkAction(parts, tenant, work, { isWorkedHere: !isAsync, total: 0 }),
      );
      const until = parts.clock.passedMs() + bulkCallMsMax;
      if (!isAsync && begun.isNew)
        void workOrDefer(parts, begun.action, until).catch(() => undefined);
      return begun.action.id;
    },
    hasEnded: async (tenant: TenantId, id: BulkActionId) => {
      const action = await parts.bulkActions.get(tenant, id);
      return action !== undefined && !isUnderWay(action);
    },
    putSchedule: async (given: ScheduleGiven) =>
      void done(await putSchedule(parts, given, defaultPlan)),
    pauseSchedule: async ({ tenant, id }: ScheduleKey) =>
      doneOrGone(await works.pauseSchedule(visitOf(tenant, { scheduleId: id }))),
    resumeSchedule: async ({ tenant, id }: ScheduleKey) =>
      doneOrGone(await works.resumeSchedule(visitOf(tenant, { scheduleId: id }))),
    removeSchedule: async ({ tenant, id }: ScheduleKey) =>
      void done(await works.removeSchedule(visitOf(tenant, { scheduleId: id }))),
    wait: (command: WaitCommand) => placeWait(parts, command),
    notify: async (tenant: TenantId, eventId: string, body: Uint8Array) =>
      notified(await works.notifyEvent({ ...visitOf(tenant, { eventId }), body })),
    /** Resolves to undefined when the event neither ended a wait nor was kept, which the answer on the wire does not say. */
    notifyRun: async (address: RunAddress, event: string, body: Uint8Array) => {
      const notified = await notifyRun(parts, address, event, body, true);
      if (typeof notified === "string") return undefined;
      return notified.flatMap((each) => ("messageId" in each ? each.messageId : []));
    },
    finishRun: async (address: RunAddress, body: Uint8Array) => {
      const query = { cancels: false, isOwn: false };
      done(await works.endRun({ ...visitOfRun(address), query, body }));
    },
    cancelRun: async (address: RunAddress) => {
      const query = { cancels: true, isOwn: false };
      doneOrGone(await works.endRun({ ...visitOfRun(address), query, body: new Uint8Array() }));
    },
    /** Runs it again from its beginning, or from where it failed. Resolves to undefined when it has not failed. */
    again: async (
      how: Again,
      address: RunAddress,
      id: RunId,
    ): Promise<Run | Fault | "active" | undefined> => {
      const run = await parts.runs.get(address);
      if (!run || !isFailed(run)) return run && isActive(run) ? "active" : undefined;
      const names = { dlqId: run.state.failure.dlqId };
      const made = await works[how === "restart" ? "restartRun" : "resumeRun"](
        visitOf(address.tenant, names, ["Service-Workflow-RunId", id]),
      );
      if (isFault(made)) return made;
      const createdAt = made.json.workflowCreatedAt;
      return parts.runs.get({ tenant: address.tenant, id, createdAt });
    },
  };
}

function done<T>(answer: T | Fault): T {
  if (isFault(answer)) throw new Error(answer.text);
  return answer;
}

const policy = done(destinationPolicy({ anyPort: true }));

/** Parts of a process for requests that no client of a simulation makes. */
const absent = {
  accounts: { changeTenant: () => Promise.reject(new Error("no request changes a tenant")) },
  auditLog: { begin: async () => undefined, end: async () => undefined, page: async () => [] },
  runningCalls: { ofTenant: async () => 0 },
};

const options = {
  ...{ policy, llmUrl: undefined, refreshAccounts: async () => undefined },
  admission: { refuse: () => undefined, close: () => undefined },
  cursors: { seal: () => "", open: (_: unknown, cursor: string) => cursor },
  watchers: {
    name: "watchers",
    start: async () => undefined,
    stop: async () => undefined,
    join: () => fault("overloaded", "nobody follows the log"),
  },
};

export const tenantOf = (id: TenantId): Tenant => ({
  ...{ id, dialect: "service", plan: defaultPlan },
  keys: { current: "", next: "" },
});

/** A request by its parsed parts: its tenant, the names in its path, and its headers. */
const visitOf = (
  tenant: TenantId,
  names: Readonly<Record<string, string>> = {},
  rawHeaders: readonly string[] = [],
) => ({
  tenant: tenantOf(tenant),
  ...{ scope: "full" as const, rawHeaders, callerIp: "", query: undefined, body: undefined },
  onGone: () => undefined,
  param: (name: string) => names[name] ?? "",
  withPermit: <T>(read: (permit: ReadPermit) => Promise<T>) => read(aReadPermit),
});

const visitOfRun = ({ createdAt, id, tenant }: RunAddress) =>
  visitOf(
    tenant,
    { runId: id },
    createdAt === undefined ? [] : ["Service-Workflow-CreatedAt", String(createdAt)],
  );

const aReadPermit = { isTaken: () => true } as ReadPermit;

/** Throws for a fault, unless another client has removed the requested item. */
function doneOrGone(answer: unknown): void {
  if (isFault(answer) && answer.fault !== "not_found") throw new Error(answer.text);
}
