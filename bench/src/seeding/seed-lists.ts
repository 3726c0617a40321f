/**
 * Puts messages for filtered lists into a data folder: of a hundred hosts, each tenth with one of a hundred labels, delivered
 * two minutes ago, and as many dead letters of the same. `node seed-lists.ts <data folder> <count> <seconds>`
 */
import {
  acceptClaimed,
  type DeadLetter,
  defaultPlan,
  dlqIdOf,
  type Message,
  owner,
  settleAttempt,
  shardCount,
  shardOf,
  type TenantId,
} from "@posthaste/domain";
import { type Embedded } from "@posthaste/embedded";
import { fillFolder } from "./folder.ts";

const batch = 1_000;
const kinds = 100;
const labelledEach = 10;
const agoMs = 120_000;
const seeder = owner("seeder");
const body = new Uint8Array(200).fill(0x78);
const answer = { headers: [], body: new Uint8Array(20).fill(0x78), truncated: false };
let last = 0;

await fillFolder(batch, seed);

async function seed(store: Embedded, tenant: TenantId): Promise<void> {
  const { deadLetters, ids, records } = store;
  const acceptedAt = Date.now() - agoMs;
  const messages = Array.from({ length: batch }, () => message(store, tenant, acceptedAt));
  const seeds = messages.map((each) => acceptClaimed(each, seeder, acceptedAt));
  await records.insert(
    seeds.map((record) => ({ record })),
    "new",
  );
  const startedAt = acceptedAt + 1;
  const attempt = {
    startedAt,
    endedAt: startedAt + 1,
    outcome: { kind: "answered", status: 200, ...answer },
  } as const;
  await records.settle(
    seeds.map((record) => settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined })),
  );
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  await records.removeFinished(shards, Date.now(), batch);
  await deadLetters.insert(
    messages.map((each, nth): DeadLetter => {
      const failed = { ...each, id: ids.next() };
      const failedAt = acceptedAt + nth;
      return {
        ...{ id: dlqIdOf(failed.id, failedAt), failedAt, message: failed, retried: 3 },
        reason: "retries_exhausted",
        response: { status: 500, ...answer },
      };
    }),
  );
}

function message({ ids }: Embedded, tenant: TenantId, createdAt: number): Message {
  const n = ++last;
  const id = ids.next();
  const { timeoutMsDefault: timeoutMs, retriesDefault: retriesMax } = defaultPlan;
  const labels = n % labelledEach === 0 ? [`label-${(n / labelledEach) % kinds}`] : [];
  return {
    ...{ id, tenant, dialect: "service", shard: shardOf(id), createdAt, notBefore: createdAt },
    ...{ url: `https://shop-${n % kinds}.example/orders`, method: "POST", body },
    headers: [["Content-Type", "application/json"]],
    policy: { timeoutMs, retriesMax, labels },
    origin: { callerIp: "127.0.0.1", hop: 0 },
  };
}
