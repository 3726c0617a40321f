/** The fan-out of a group publish: its children are made from it, in batches (docs/design/record#fan-out). */
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
import { announce, wakeLane } from "./announce.ts";

export type ExpandPorts = {
  readonly records: Records;
  readonly fanOuts: FanOuts;
  readonly groups: Groups;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
};

/** Does nothing if the fan-out is expanded, or gone, by now. */
export async function expandStored(
  ports: ExpandPorts,
  tenant: TenantId,
  id: MessageId,
): Promise<void> {
  const [fanOut] = await ports.fanOuts.get(tenant, [id]);
  if (fanOut && isExpanding(fanOut)) await expandAll(ports, fanOut);
}

/** Makes the children that are still missing. Stops when another expander is at it: ids are derived, no harm is done. */
async function expandAll(ports: ExpandPorts, fanOut: Expanding): Promise<void> {
  const endpoints = await ports.groups.endpoints(fanOut.tenant, fanOut.chunks);
  let { upTo } = fanOut.state;
  for (;;) {
    const batch = expand({ ...fanOut, state: { kind: "expanding", upTo } }, endpoints);
    const children = batch.children.map((child) =>
      accept(child, ports.clock.now(), !ports.bus.isUp()),
    );
    const inserted =
      children.length > 0
        ? await ports.records.insert(
            children.map((record) => ({ record })),
            "accepted",
          )
        : [];
    await announce(
      ports,
      children.filter((_, i) => inserted[i] === "inserted"),
    );
    const mine = await ports.fanOuts.advance(fanOut.id, upTo, batch.upTo, batch.done);
    // Nothing behind a child has a turn before all up to it are made.
    if (mine && fanOut.queue !== undefined)
      await ports.bus.publish("scheduler.wake", [wakeLane(fanOut.queue, ports.clock.now())]);
    if (batch.done || !mine) return;
    upTo = batch.upTo;
  }
}

/** Of the children that a fan-out has not made yet those that match. */
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

/** Each has a body, which may be large. */
const fanOutsPerRead = 4;

/** Those of `ids` that name a child which its fan-out has not made yet, as it will be; together those of a few fan-outs. */
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
