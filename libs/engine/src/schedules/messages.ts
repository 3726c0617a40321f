/** Inserts the messages of slots under derived ids: those to URLs in one write, and each group's in a write of its own. */
import {
  accept,
  beyondQuota,
  defaultPlan,
  type Fault,
  isFault,
  type LastSlot,
  type MessageRecord,
  messageOf,
  type TenantId,
} from "@posthaste/domain";
import { noTelemetry, type Queues, type Telemetry, type Tenant } from "@posthaste/ports";
import { type AcceptPorts } from "../publish/accept.ts";
import { announceTraced } from "../publish/announce.ts";
import { insertForGroup } from "../publish/group-publish.ts";
import { enter } from "../publish/intake.ts";
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
  const outcomeOf = async ({ id, command }: SlotMessage): Promise<Outcome> => {
    const { destination, tenant } = command;
    const groups = await enter(ports, [command], ({ queues }) => {
      const refused = full.get(tenant);
      if (refused) return Promise.resolve({ refused });
      const { plan = defaultPlan } = ports.tenants.get(tenant) ?? {};
      return queues.length > 0 ? makeQueues(ports, tenant, queues, plan) : undefined;
    });
    if (isFault(groups)) return groups;
    if ("refused" in groups) return groups.refused;
    if (destination.kind === "group") {
      const group = groups.get(destination.name);
      return group ? insertForGroup(ports, { command, group }, id) : [];
    }
    const now = ports.clock.now();
    const message = messageOf(command, destination.url, id, now);
    toUrls.push(accept(message, now, !ports.bus.isUp()));
    return [id];
  };
  const made = await Promise.all(slots.map((slot) => inSlotSpan(tracer, slot, outcomeOf)));
  await insertAll(ports, toUrls);
  return made;
}

async function insertAll(ports: SlotPorts, records: readonly MessageRecord[]): Promise<void> {
  if (records.length === 0) return;
  const inserted = await ports.records.insert(
    records.map((record) => ({ record })),
    "accepted",
  );
  const fresh = records.filter((_, i) => inserted[i] === "inserted");
  const { tracer } = ports.telemetry ?? noTelemetry;
  // The caller does not wait for hints; see `announceInBackground`.
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
