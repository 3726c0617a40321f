/**
 * Ends the undelivered messages of an ended run. Otherwise they would count in the backlog until their time, for a
 * sleep of a month a month, or be in the line of a flow key and take its grants. Running messages are left alone, and
 * are over when they have ended.
 */
import { type FlowId, leftOpen, type Run, runMessageId, leftDropped } from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  headIfChanged,
  type Records,
  type RunStore,
  type TokenStore,
} from "@posthaste/ports";
import { wakeLane } from "../publish/announce.ts";

export type DropPorts = {
  readonly records: Pick<Records, "drop">;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** If absent, the slots expire. */
  readonly tokens?: Pick<TokenStore, "release">;
};

export async function dropLeft(ports: DropPorts, ended: Run): Promise<void> {
  const { bus, clock, records, tokens } = ports;
  const names = leftOpen(ended);
  for (let at = 0; at < names.length; at += droppedAtOnce) {
    const some = names.slice(at, at + droppedAtOnce);
    const ids = some.map((name) => runMessageId(ended.root, name));
    const dropped = await records.drop(ended.tenant, ids);
    const lanes = Map.groupBy(
      dropped.flatMap(({ id, flow }) => (flow ? { id, flow } : [])),
      ({ flow }) => flow,
    );
    for (const [lane, those] of lanes)
      await tokens
        ?.release(
          lane,
          those.map(({ id }) => id),
        )
        .catch(() => undefined);
    const wakes = [...lanes.keys()].map((lane: FlowId) => wakeLane(lane, clock.now()));
    // A hint. If it is lost, the alarm of the lane rings.
    if (wakes.length > 0) bus.publish("scheduler.wake", wakes).catch(() => undefined);
  }
}

const droppedAtOnce = 500;

/** Drops once more after a while, since a process that was slow, or has died, may have left something. */
export async function dropAtLast(
  ports: DropPorts & { readonly runs: RunStore },
  ended: Run,
): Promise<void> {
  await dropLeft(ports, ended);
  await ports.runs.change(ended, (run) => headIfChanged(leftDropped(run)));
}
