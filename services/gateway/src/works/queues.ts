/** `/v2/queues`: FIFO queues (docs/design/queues). */
import { type queues } from "@posthaste/contract";
import { fault, type Fault } from "@posthaste/domain";
import { type CancelPorts, endQueue, putQueue, resumeQueue } from "@posthaste/engine";
import { type Works } from "./work.ts";

const done = { status: 200 } as const;

export const queueWorks = (ports: CancelPorts): Works<keyof typeof queues> => ({
  upsertQueue: async ({ tenant, body }) => {
    const { queueName: name, parallelism, paused } = body;
    const change = { tenant: tenant.id, name, parallelism, paused };
    return (await putQueue(ports, change, tenant.plan)) ?? done;
  },
  listQueues: async ({ tenant }) => ({ status: 200, json: await ports.queues.list(tenant.id) }),
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

const unknown = (name: string): Fault => fault("not_found", `queue ${name} not found`);
