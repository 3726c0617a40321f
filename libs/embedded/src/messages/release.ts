/** Releases a record that waits for its time: sets its alarm to now, which rings as at the due time. */
import { columnsOf } from "./records.ts";
import { type MessageId, release, type TenantId } from "@posthaste/domain";
import { type Released } from "@posthaste/ports";
import { ofTenant, type Reading } from "./read.ts";
import { type Store } from "./store.ts";

export type ReleaseOne = (tenant: TenantId, id: MessageId) => Released;

export function openRelease({ db, clock }: Store, reading: Reading): ReleaseOne {
  const write = db.prepare(
    "UPDATE messages SET until = ?, hints = ?, wake_at = ? WHERE position = ?",
  );
  return (tenant, id) => {
    const found = ofTenant(tenant, reading.slim(id));
    if (!found) return { kind: "unknown" };
    const { record, position } = found;
    const released = release(record, clock.now());
    if (released.kind !== "released") return { kind: released.kind };
    const { until, hints } = columnsOf(released.next);
    write.run(until, hints, released.wakeAt, position);
    return { kind: "released", shard: record.message.shard };
  };
}
