/**
 * Puts finished messages into a data folder through the store's own calls, as if delivered two minutes ago, with all
 * the rows of a delivered message. `node seed-finished.ts <data folder> <count> <seconds>` prints the number when the
 * count or the time is reached.
 */
import {
  acceptClaimed,
  defaultPlan,
  type InState,
  type Message,
  type MessageId,
  owner,
  settleAttempt,
  type Settlement,
  shardCount,
  shardOf,
  type TenantId,
} from "@posthaste/domain";
import { type Embedded } from "@posthaste/embedded";
import { fillFolder } from "./folder.ts";

const batch = 1_000;
const agoMs = 120_000;
const seeder = owner("seeder");
const body = new Uint8Array(600).fill(0x78);

await fillFolder(batch, seed);

async function seed({ records, ids }: Embedded, tenantId: TenantId): Promise<void> {
  const acceptedAt = Date.now() - agoMs;
  const seeds = Array.from({ length: batch }, () =>
    acceptClaimed(message(ids.next(), tenantId, acceptedAt), seeder, acceptedAt),
  );
  await records.insert(
    seeds.map((record) => ({ record })),
    "new",
  );
  await records.settle(seeds.map(delivered));
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  await records.removeFinished(shards, Date.now(), batch);
}

function delivered(record: InState<"claimed">): Settlement {
  const startedAt = record.message.createdAt + 1;
  const answer = { status: 200, headers: [], body: new Uint8Array(), truncated: false };
  const attempt = {
    startedAt,
    endedAt: startedAt + 1,
    outcome: { kind: "answered", ...answer },
  } as const;
  return settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
}

function message(id: MessageId, tenantId: TenantId, createdAt: number): Message {
  return {
    id,
    tenant: tenantId,
    dialect: "service",
    shard: shardOf(id),
    createdAt,
    notBefore: createdAt,
    url: "http://127.0.0.1:9999/x",
    method: "POST",
    headers: [
      ["Content-Type", "application/json"],
      ["X-A", "b"],
    ],
    body,
    policy: {
      timeoutMs: defaultPlan.timeoutMsDefault,
      retriesMax: defaultPlan.retriesDefault,
      labels: [],
    },
    origin: { callerIp: "127.0.0.1", hop: 0 },
  };
}
