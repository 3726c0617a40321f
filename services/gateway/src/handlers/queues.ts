/** `/v2/queues`: FIFO queues (docs/design/queues). */
import { type queues } from "@posthaste/contract";
import { fault, type Fault, type TenantId } from "@posthaste/domain";
import { type CancelPorts, endQueue, putQueue, resumeQueue } from "@posthaste/engine";
import { listTexts } from "@posthaste/http";
import { type Queue } from "@posthaste/ports";
import { type Reads, type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

const done = { status: 200 } as const;

type QueueParts = CancelPorts & { readonly reads: ReadsIn };

export const queueHandlers = (ports: QueueParts): Handlers<keyof typeof queues> => ({
  upsertQueue: async ({ tenant, body }) => {
    const { queueName: name, parallelism, paused } = body;
    const change = {
      tenant: tenant.id,
      name,
      ...(parallelism != null && { parallelism }),
      ...(paused != null && { paused }),
    };
    return (await putQueue(ports, change, tenant.plan)) ?? done;
  },
  listQueues: async ({ tenant }) => ({
    status: 200,
    read: async (permit) => ({ pieces: listTexts(queuePages(ports.reads(permit), tenant.id)) }),
  }),
  readQueue: async ({ tenant, param }) => {
    const name = param("queueName");
    const queue = await ports.queues.get(tenant.id, name);
    return queue ? { status: 200, json: queue } : unknown(name);
  },
  removeQueue: async ({ tenant, param, query }) => {
    const name = param("queueName");
    if (query.dryRun) {
      const matched = (await ports.queues.get(tenant.id, name))?.lag ?? 0;
      return { status: 200, json: { dryRun: true, matched } };
    }
    await endQueue(ports, tenant.id, name);
    return done;
  },
  pauseQueue: async ({ tenant, param }) => {
    const change = { tenant: tenant.id, name: param("queueName"), paused: true };
    return (await putQueue(ports, change, tenant.plan)) ?? done;
  },
  resumeQueue: async ({ tenant, param }) => {
    await resumeQueue(ports, tenant.id, param("queueName"));
    return done;
  },
});

/** Small, since a store may count the messages of each queue. */
const queuesPerPage = 100;

async function* queuePages(
  { queues }: Pick<Reads, "queues">,
  tenant: TenantId,
): AsyncGenerator<readonly Queue[], void, undefined> {
  let after: string | undefined = "";
  // Each page begins after the last name of the one before.
  while (after !== undefined) {
    const page: readonly Queue[] = await queues(tenant, { after, limit: queuesPerPage });
    yield page;
    after = page.length === queuesPerPage ? page.at(-1)?.name : undefined;
  }
}

const unknown = (name: string): Fault => fault("not_found", `queue ${name} not found`);
