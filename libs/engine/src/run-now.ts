/** Ends the wait of a message for its delay or retry. Its scheduler then rings it as at its due time. */
import { type MessageId, type TenantId } from "@posthaste/domain";
import { type Clock, type EventBus, type Records, type Released } from "@posthaste/ports";
import { wakeSchedulers } from "./publish/announce.ts";

export type RunNowPorts = {
  readonly records: Pick<Records, "release">;
  readonly bus: EventBus;
  readonly clock: Clock;
};

export async function runNow(
  { bus, clock, records }: RunNowPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<Released["kind"]> {
  const released = await records.release(tenant, id);
  if (released.kind === "released")
    wakeSchedulers(bus, [{ shard: released.shard, at: clock.now(), source: "record" }]);
  return released.kind;
}
