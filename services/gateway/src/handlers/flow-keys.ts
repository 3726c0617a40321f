import { flowKeyJson, type flowKeys, parseFlowKey } from "@posthaste/contract";
import { fault, isFault } from "@posthaste/domain";
import {
  type GrantPorts,
  pauseFlowKey,
  pinFlowKey,
  readFlowKey,
  resetFlowKey,
  resetFlowRate,
  resumeFlowKey,
  unpinFlowKey,
} from "@posthaste/engine";
import { type RunningCalls } from "@posthaste/ports";
import { type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

export type FlowKeyParts = GrantPorts & {
  readonly reads: ReadsIn;
  readonly runningCalls: RunningCalls;
};

export const flowKeyHandlers = (ports: FlowKeyParts): Handlers<keyof typeof flowKeys> => ({
  listFlowKeys: async ({ tenant, query }) => ({
    status: 200,
    read: async (permit) => {
      const found = await ports.reads(permit).flowKeys(tenant.id, query.search);
      return { json: found.map(flowKeyJson) };
    },
  }),
  readFlowKey: async ({ tenant, param }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    const found = await readFlowKey(ports, tenant.id, key);
    return found ? { status: 200, json: flowKeyJson(found) } : unknown(key);
  },
  pauseFlowKey: async ({ tenant, param }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    await pauseFlowKey(ports, tenant.id, key);
    return { status: 200 };
  },
  resumeFlowKey: async ({ tenant, param }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    await resumeFlowKey(ports, tenant.id, key);
    return { status: 200 };
  },
  resetFlowRate: async ({ tenant, param }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    await resetFlowRate(ports, tenant.id, key);
    return { status: 200 };
  },
  resetFlowKey: async ({ tenant, param }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    await resetFlowKey(ports, tenant.id, key);
    return { status: 200 };
  },
  readGlobalParallelism: async ({ tenant }) => ({
    status: 200,
    json: {
      parallelismMax: tenant.plan.parallelismMax,
      parallelismCount: await ports.runningCalls.ofTenant(tenant.id),
    },
  }),
  pinFlowKey: async ({ tenant, param, query }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    await pinFlowKey(ports, tenant.id, key, query);
    return { status: 200 };
  },
  unpinFlowKey: async ({ tenant, param, query }) => {
    const key = parseFlowKey(param("flowControlKey"));
    if (isFault(key)) return key;
    const unpinned = await unpinFlowKey(ports, tenant.id, key, query);
    return unpinned ? { status: 200 } : unknown(key);
  },
});

const unknown = (key: string) =>
  fault("not_found", `flow-control key ${key.slice(0, 128)} not found`);
