/** Inserts the messages of slots under derived ids: those to URLs in one write, and each group's in a write of its own. */
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
  type WholeSchedule,
} from "@posthaste/domain";
import {
  noTelemetry,
  type Queues,
  type Telemetry,
  type Tenant,
  type Tracer,
} from "@posthaste/ports";
import { type AcceptPorts } from "../publish/accept.ts";
import { announceTraced, insertAccepted } from "../publish/announce.ts";
import { insertForGroup } from "../publish/group-publish.ts";
import { enter } from "../publish/intake.ts";
import { makeQueues } from "../lanes/queues.ts";

/** The message of a slot, or the group publish. */
export type SlotMessage = {
  readonly schedule: WholeSchedule;
  readonly slot: number;
  readonly id: MessageId;
  readonly command: PublishCommand;
};

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
  // The caller does not wait for hints; see `announceInBackground`.
  announceTraced(ports, tracer, await insertAccepted(ports, toUrls)).catch(() => undefined);
  return made;
}

/** Runs `made` in the span of a slot. The slot begins a trace, if that is sampled, and its messages join it. */
async function inSlotSpan(
  tracer: Tracer,
  slot: SlotMessage,
  made: (slot: SlotMessage) => Promise<Outcome>,
): Promise<Outcome> {
  const { command, id, schedule } = slot;
  const span = tracer.isOn
    ? tracer.start("schedule", {
        kind: "producer",
        attributes: {
          "posthaste.tenant": command.tenant,
          "posthaste.schedule.id": schedule.id,
          "posthaste.message.id": id,
        },
      })
    : undefined;
  if (!span) return made(slot);
  const outcome = await made({ ...slot, command: { ...command, trace: span.traceParent } });
  span.end(isFault(outcome) ? { error: outcome.fault } : {});
  return outcome;
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
