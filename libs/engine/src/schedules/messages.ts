/** Inserts the messages of slots under derived ids: those to URLs in one write, each group's in its own. */
import {
  accept,
  beyondQuota,
  defaultPlan,
  type Fault,
  isFault,
  type LastSlot,
  type MessageId,
  type MessageRecord,
  messageOf,
  type PublishCommand,
  type TenantId,
} from "@posthaste/domain";
import { noTelemetry, type Queues, type Telemetry, type Tenant } from "@posthaste/ports";
import { type AcceptPorts } from "../publish/accept.ts";
import { announceTraced } from "../publish/announce.ts";
import { findGroup, insertForGroup } from "../publish/group-publish.ts";
import { inSlotSpan } from "../trace.ts";
import { makeQueues } from "../lanes/queues.ts";
import { type SlotMessage } from "./slot-message.ts";

export type SlotPorts = Omit<AcceptPorts, "tokens" | "messageLog" | "local"> & {
  readonly queues: Queues;
  readonly tenants: { get(id: TenantId): Tenant | undefined };
  readonly telemetry?: Telemetry;
};

type Outcome = LastSlot["messages"] | Fault;

/** Returns for each slot the ids of its messages, or the reason why it makes none. Rejects when the store does. */
export async function insertMessages(
  ports: SlotPorts,
  slots: readonly SlotMessage[],
): Promise<readonly Outcome[]> {
  const { tracer } = ports.telemetry ?? noTelemetry;
  const full = await fullTenants(ports, slots);
  const toUrls: MessageRecord[] = [];
  const outcomeOf = async ({ id, command, schedule }: SlotMessage): Promise<Outcome> => {
    const beyond = full.get(schedule.tenant);
    if (beyond) return beyond;
    const { destination } = command;
    if (destination.kind === "group") return forGroup(ports, command, destination.name, id);
    const refused = await roomInQueue(ports, command);
    if (refused) return refused;
    const now = ports.clock.now();
    const message = messageOf(command, destination.url, id, now);
    toUrls.push(accept(message, now, !ports.bus.isUp()));
    return [id];
  };
  const made = await Promise.all(slots.map((slot) => inSlotSpan(tracer, slot, outcomeOf)));
  await insertAll(ports, toUrls);
  return made;
}

async function forGroup(
  ports: SlotPorts,
  command: PublishCommand,
  name: string,
  id: MessageId,
): Promise<Outcome> {
  const group = await findGroup(ports, command.tenant, name);
  if (isFault(group)) return group;
  return (await roomInQueue(ports, command)) ?? insertForGroup(ports, { command, group }, id);
}

async function roomInQueue(
  ports: SlotPorts,
  { tenant, queue }: PublishCommand,
): Promise<Fault | undefined> {
  if (queue === undefined) return undefined;
  const plan = ports.tenants.get(tenant)?.plan ?? defaultPlan;
  return (await makeQueues(ports, tenant, [queue], plan))?.refused;
}

async function insertAll(ports: SlotPorts, records: readonly MessageRecord[]): Promise<void> {
  if (records.length === 0) return;
  const inserted = await ports.records.insert(
    records.map((record) => ({ record })),
    "accepted",
  );
  const fresh = records.filter((_, i) => inserted[i] === "inserted");
  const { tracer } = ports.telemetry ?? noTelemetry;
  // The caller does not wait for hints; see `announceUnheard`.
  announceTraced(ports, tracer, fresh).catch(() => undefined);
}

async function fullTenants(
  { records, tenants }: SlotPorts,
  slots: readonly SlotMessage[],
): Promise<ReadonlyMap<TenantId, Fault>> {
  const ids = [...new Set(slots.map(({ schedule }) => schedule.tenant))];
  const looked = await Promise.all(
    ids.map(async (id): Promise<readonly [TenantId, Fault] | undefined> => {
      const backlogMax = tenants.get(id)?.plan.backlogMax;
      if (backlogMax === undefined || (await records.backlog(id)) < backlogMax) return undefined;
      return [id, beyondQuota("maxBacklog", backlogMax)];
    }),
  );
  return new Map(looked.filter((each) => each !== undefined));
}
