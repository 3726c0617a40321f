/** Run now: what waits for a delay or a retry waits no longer. Its scheduler rings it, as at its due time. */
import { leftOpen, type MessageId, type Run, runMessageId, type TenantId } from "@posthaste/domain";
import { type Clock, type EventBus, type Records, type Released } from "@posthaste/ports";

export type RunNowPorts = {
  readonly records: Pick<Records, "release">;
  readonly bus: EventBus;
  readonly clock: Clock;
};

export const runNow = (
  ports: RunNowPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<Released["kind"]> => ringNow(ports, tenant, id, "message");

/**
 * What a run that has ended was still to be delivered is over when it is due, which is now: until then it would count in
 * the backlog, a sleep of a month for a month. What another process adds meanwhile is over at its time.
 */
export async function ringLeft(ports: RunNowPorts, before: Run, ended: Run): Promise<void> {
  const names = leftOpen(before, ended.state.kind);
  for (let at = 0; at < names.length; at += rungAtOnce) {
    const ids = names.slice(at, at + rungAtOnce).map((name) => runMessageId(ended.root, name));
    await Promise.all(ids.map((id) => ringNow(ports, ended.tenant, id, "run")));
  }
}

const rungAtOnce = 100;

async function ringNow(
  { bus, clock, records }: RunNowPorts,
  tenant: TenantId,
  id: MessageId,
  of: "message" | "run",
): Promise<Released["kind"]> {
  const released = await records.release(tenant, id, of);
  if (released.kind === "released")
    // A hint: without it the alarm is found late.
    bus
      .publish("scheduler.wake", [{ shard: released.shard, at: clock.now() }])
      .catch(() => undefined);
  return released.kind;
}
