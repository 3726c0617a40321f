/** Makes the children of a group publish from its fan-out, in batches (docs/design/record#fan-out). */
import {
  accept,
  childOf,
  expand,
  type Expanding,
  isExpanding,
  type LiveFilter,
  matchesLive,
  type MessageId,
  type MessageRecord,
  parentOf,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type FanOuts,
  type Groups,
  type Records,
} from "@posthaste/ports";
import { announce, insertAccepted, wakeLane } from "./announce.ts";

export type ExpandPorts = {
  readonly records: Records;
  readonly fanOuts: FanOuts;
  readonly groups: Groups;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
};

/** Expands a fan-out. Does nothing when it is expanded or removed. */
export async function expandStored(
  ports: ExpandPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<void> {
  const [fanOut] = await ports.fanOuts.get(tenant, [id]);
  if (fanOut && isExpanding(fanOut)) await expandAll(ports, fanOut);
}

/** Makes the missing children. Stops when another expander is at work; ids are derived, so two at once do no harm. */
async function expandAll(ports: ExpandPorts, fanOut: Expanding): Promise<void> {
  const endpoints = await ports.groups.endpoints(fanOut.tenant, fanOut.chunks);
  let { upTo } = fanOut.state;
  for (;;) {
    const batch = expand({ ...fanOut, state: { kind: "expanding", upTo } }, endpoints);
    const children = batch.children.map((child) =>
      accept(child, ports.clock.now(), !ports.bus.isUp()),
    );
    await announce(ports, await insertAccepted(ports, children));
    const mine = await ports.fanOuts.advance(fanOut.id, upTo, batch.upTo, batch.done);
    // No message after a child gets a turn before all children up to that one are made.
    if (mine && fanOut.queue !== undefined)
      await ports.bus.publish("scheduler.wake", [wakeLane(fanOut.queue, ports.clock.now())]);
    if (batch.done || !mine) return;
    upTo = batch.upTo;
  }
}

/** Returns the matching children that a fan-out has not made yet. */
export async function unmadeMatching(
  ports: Pick<ExpandPorts, "fanOuts" | "groups">,
  tenant: TenantId,
  id: MessageId,
  filter: LiveFilter,
): Promise<readonly MessageId[]> {
  const [fanOut] = await ports.fanOuts.get(tenant, [id]);
  if (!fanOut || !isExpanding(fanOut)) return [];
  const endpoints = await ports.groups.endpoints(tenant, fanOut.chunks);
  const skipped = new Set(fanOut.skipped);
  return endpoints.flatMap((endpoint, index) => {
    if (index < fanOut.state.upTo || skipped.has(index)) return [];
    const child = childOf(fanOut, endpoint, index);
    return matchesLive(filter, child) ? [child.id] : [];
  });
}

/** The fan-outs read at once; each has a body, which may be large. */
const fanOutsPerRead = 4;

/** Yields the children named by `ids` that their fan-outs have not made yet, as they will be, for a few fan-outs at a time. */
export async function* unexpandedChildren(
  ports: Pick<ExpandPorts, "fanOuts" | "groups">,
  tenant: TenantId,
  ids: readonly MessageId[],
): AsyncGenerator<readonly MessageRecord[], void, undefined> {
  const named = ids.flatMap((id) => parentOf(id) ?? []);
  const byParent = Map.groupBy(named, ({ parent }) => parent);
  const parents = [...byParent.keys()];
  for (let from = 0; from < parents.length; from += fanOutsPerRead) {
    const children: MessageRecord[] = [];
    for (const fanOut of await ports.fanOuts.get(
      tenant,
      parents.slice(from, from + fanOutsPerRead),
    )) {
      if (!fanOut || !isExpanding(fanOut)) continue;
      const { skipped, state, template } = fanOut;
      const endpoints = await ports.groups.endpoints(tenant, fanOut.chunks);
      for (const { index } of byParent.get(fanOut.id) ?? []) {
        const endpoint = endpoints[index];
        if (!endpoint || index < state.upTo || skipped.includes(index)) continue;
        children.push(accept(childOf(fanOut, endpoint, index), template.createdAt));
      }
    }
    yield children;
  }
}
