/** Puts succeeded runs of one step into a data folder, with one of a hundred labels each. */
import {
  append,
  defaultPlan,
  type MessageId,
  newOrder,
  partOf,
  type RunId,
  runId,
  runKey,
  shardOf,
  type TenantId,
} from "@posthaste/domain";
import { fillFolder } from "./folder.ts";

const batch = 1_000;
const labels = 100;
const body = new Uint8Array(200).fill(0x78);
const result = { role: "result", step: 1 } as const;
let last = 0;

await fillFolder(batch, async ({ ids, runs }, tenant) => {
  await Promise.all(
    Array.from({ length: batch }, () => {
      const n = ++last;
      const id = runId(`wfr_${n}`);
      return runs.start(tenant, id, "new", (use) =>
        succeeded(tenant, id, ids.next(), { ...use, n }),
      );
    }),
  );
});

function succeeded(
  tenant: TenantId,
  id: RunId,
  root: MessageId,
  { generation, n }: { readonly generation: number; readonly n: number },
) {
  const at = Date.now();
  const { retriesDefault: retriesMax, timeoutMsDefault: timeoutMs } = defaultPlan;
  const policy = { timeoutMs, retriesMax, labels: [`label-${n % labels}`] };
  const run = {
    ...{ key: runKey(tenant, id, generation), id, generation, root, tenant, shard: shardOf(root) },
    ...({ dialect: "upstash", url: "http://127.0.0.1:9999/run", callerIp: "127.0.0.1" } as const),
    ...{ createdAt: at, plan: { features: [], headers: [], policy } },
    ...({ state: { kind: "active", pending: [], notes: [] }, history: newOrder } as const),
    ...{ bytes: 2 * body.length, reached: 0, version: 1 },
  };
  const appended = append(run, [result]);
  if (appended.kind !== "appended") throw new Error("its only step");
  const state = { kind: "succeeded", pending: [], endedAt: at } as const;
  const parts = [partOf({ role: "start" }), partOf(result)];
  return {
    run: { ...appended.run, state },
    parts: parts.map((name, rank) => ({ name, rank, at, body })),
    deliveries: [],
  };
}
