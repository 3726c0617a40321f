/** The messages of slots: inserted under derived ids, all that go to URLs in one write, each group's for itself. */
import {
  accept,
  beyondQuota,
  defaultPlan,
  type Fault,
  type LastSlot,
  type MessageId,
  type MessageRecord,
  messageOf,
  type PublishCommand,
  type TenantId,
  type WholeSchedule,
} from "@posthaste/domain";
import { type Queues, type Tenant } from "@posthaste/ports";
import { type AcceptPorts } from "../accept.ts";
import { announceUnheard } from "../announce.ts";
import { insertForGroup } from "../group-publish.ts";
import { makeQueue } from "../queues.ts";

/** A tenant's plan bounds what it may have unfinished. */
export type SlotPorts = Omit<AcceptPorts, "tokens" | "local"> & {
  readonly queues: Queues;
  readonly tenants: { get(id: TenantId): Tenant | undefined };
};

export type SlotMessage = {
  readonly schedule: WholeSchedule;
  readonly slot: number;
  readonly id: MessageId;
  readonly command: PublishCommand;
};

type Outcome = LastSlot["messages"] | Fault;

/** Of each slot the ids that it has made, or why it makes none. Rejects when the store does. */
export async function insertMessages(
  ports: SlotPorts,
  slots: readonly SlotMessage[],
): Promise<readonly Outcome[]> {
  const full = await fullTenants(ports, slots);
  const toUrls: MessageRecord[] = [];
  const outcomes = slots.map(async ({ id, command, schedule }): Promise<Outcome> => {
    const refused = full.get(schedule.tenant);
    if (refused) return refused;
    const { destination } = command;
    if (destination.kind === "group") return insertForGroup(ports, command, destination.name, id);
    if (command.queue !== undefined) {
      const plan = ports.tenants.get(schedule.tenant)?.plan ?? defaultPlan;
      const tooMany = await makeQueue(ports, schedule.tenant, command.queue, plan);
      if (tooMany) return tooMany;
    }
    const now = ports.clock.now();
    const message = messageOf(command, destination.url, id, now);
    toUrls.push(accept(message, now, !ports.bus.isUp()));
    return [id];
  });
  const made = await Promise.all(outcomes);
  await insertAll(ports, toUrls);
  return made;
}

async function insertAll(ports: SlotPorts, records: readonly MessageRecord[]): Promise<void> {
  if (records.length === 0) return;
  const inserted = await ports.records.insert(records.map((record) => ({ record })));
  announceUnheard(
    ports,
    records.filter((_, i) => inserted[i] === "inserted"),
  );
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
