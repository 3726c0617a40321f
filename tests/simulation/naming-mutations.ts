/** Planted bugs about deliverers that gateways name, see mutations.ts. */
import { type InState, isIn, limits, type Owner, owner } from "@posthaste/domain";
import { type FlowLanes, type Hint, type RosterEntry } from "@posthaste/ports";
import { type Model } from "./backend.ts";
import { type Life } from "./world/node.ts";
import { inserting, type Mutation, type NodePorts, withPort } from "./mutate.ts";

export const namingMutations: readonly Mutation[] = [
  {
    name: "what is named for another deliverer called at once",
    change: (ports, _, life) =>
      hearing(ports, (record) => withState(record, { owner: owner(life.name) })),
  },
  {
    name: "the lease of a named message counted from when it is heard",
    isRare: true,
    change: (ports) =>
      hearing(ports, (record) =>
        withState(record, { leaseUntil: ports.clock.now() + limits.namedLeaseMs }),
      ),
  },
  {
    name: "a named message inserted without an alarm",
    change: (ports) => insertingClaimed(ports, (record) => ({ ...record, wakeAt: undefined })),
  },
  {
    name: "the lapse of a lease that only an insert took counted as a loss",
    change: (ports) => insertingClaimed(ports, (record) => ({ ...record, leaseLosses: 0 })),
  },
  {
    name: "a slot taken by a publish whatever stands in line",
    change: (ports, _, life) => asGateway(ports, life, { heads: async () => [] }),
  },
  {
    name: "a slot taken by a publish of a key that is paused",
    change: (ports, _, life) =>
      asGateway(ports, life, {
        rows: async (ids) =>
          (await ports.flowLanes.rows(ids)).map((row) => ({ ...row, paused: false })),
      }),
  },
  {
    name: "a renewal that says of every lease that it holds",
    change: (ports) =>
      withPort(ports, "records", {
        renew: async (claims) => {
          await ports.records.renew(claims);
          return [];
        },
      }),
  },
  {
    name: "the roster never left",
    shownBy: "plainMessages",
    change: (ports) => withPort(ports, "roster", { leave: async () => undefined }),
  },
  {
    name: "the subscription ended before the roster is left",
    shownBy: "plainMessages",
    change: (ports) => {
      const ends: (() => Promise<void>)[] = [];
      const subscribing = withPort(ports, "bus", {
        subscribe: async (...given) => {
          const end = await ports.bus.subscribe(...given);
          ends.push(end);
          return end;
        },
      });
      return withPort(subscribing, "roster", {
        leave: async (by) => {
          for (const end of ends) await end();
          await ports.roster?.leave(by);
        },
      });
    },
  },
  {
    name: "named whatever the age of its announcement",
    shownBy: "plainMessages",
    change: (ports, model) => {
      const announced = announcedIn(model);
      return withPort(ports, "roster", {
        announce: async (entry) => {
          announced.set(entry.owner, { entry, at: 0 });
          await ports.roster?.announce(entry);
        },
        leave: async (by) => void announced.delete(by),
        read: async () => [...announced.values()].map(({ entry }) => entry),
      });
    },
  },
  {
    name: "announced by the clock of the process",
    shownBy: "plainMessages",
    change: (ports, model, { clock }) => {
      const announced = announcedIn(model);
      return withPort(ports, "roster", {
        announce: async (entry) => void announced.set(entry.owner, { entry, at: clock.now() }),
        leave: async (by) => void announced.delete(by),
        read: async () =>
          [...announced.values()].flatMap(({ entry, at }) =>
            at > clock.now() - limits.rosterFreshMs ? entry : [],
          ),
      });
    },
  },
  {
    name: "the log told of a named message by its attempt alone",
    change: (ports, _, life) =>
      life.node.name.startsWith("deliverer")
        ? withPort(ports, "bus", {
            publish: async (topic, events) =>
              topic === "message.accepted" ? undefined : ports.bus.publish(topic, events),
          })
        : ports,
  },
];

type Named = InState<"claimed">;

const withState = (record: Named, state: Partial<Named["state"]>): Named => ({
  ...record,
  state: { ...record.state, ...state },
});

/** Changes the records in hints as a process receives them. */
const hearing = (ports: NodePorts, change: (record: Named) => Named): NodePorts =>
  withPort(ports, "bus", {
    subscribe: (topic, group, handle, options) =>
      ports.bus.subscribe(
        topic,
        group,
        (events) =>
          handle(
            events.map((event) => {
              const { record }: { readonly record?: Named } = event as Partial<Hint>;
              return record ? { ...event, record: change(record) } : event;
            }),
          ),
        options,
      ),
  });

const insertingClaimed = (ports: NodePorts, change: (record: Named) => Named): NodePorts =>
  inserting(ports, (record) =>
    isIn(record, "claimed") && record.leaseLosses < 0 ? change(record) : record,
  );

type Stamped = { readonly entry: RosterEntry; readonly at: number };
type Announced = Map<Owner, Stamped>;
const rosters = new WeakMap<Model, Announced>();

/** Returns one roster for all processes of a history. */
function announcedIn(model: Model): Announced {
  const known = rosters.get(model) ?? new Map<Owner, Stamped>();
  rosters.set(model, known);
  return known;
}

/** Replaces lane operations in gateways only: granters keep the real ones. */
const asGateway = (ports: NodePorts, life: Life, other: Partial<FlowLanes>): NodePorts =>
  life.node.name.startsWith("gateway") ? withPort(ports, "flowLanes", other) : ports;
