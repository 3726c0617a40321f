/**
 * Planted bugs: what a careless change would do, done to the ports of a process. The checks must catch each of them; a
 * check that nothing can fail says nothing.
 */
import { isFinished, isIn, type MessageId, messageId, parentOf } from "@posthaste/domain";
import { type CallbackDispatcherPorts } from "@posthaste/callback-dispatcher";
import { type DelivererPorts } from "@posthaste/deliverer";
import { type AcceptPorts, type CancelPorts } from "@posthaste/engine";
import { type MessageStore, type TokenStore } from "@posthaste/ports";
import { type SchedulerPorts } from "@posthaste/scheduler";
import { type WorkflowLogPorts } from "@posthaste/workflow-log";
import { type Model } from "./backend.ts";
import { type Life } from "./world/node.ts";

export type NodePorts = Omit<AcceptPorts, "local"> &
  Omit<CancelPorts, "local"> &
  DelivererPorts &
  SchedulerPorts &
  CallbackDispatcherPorts &
  WorkflowLogPorts;

export type Mutation = {
  readonly name: string;
  readonly change: (ports: NodePorts, model: Model, life: Life) => NodePorts;
};

/** The port with some of its operations done otherwise. */
const otherwise = <P extends object>(port: P, other: Partial<P>): P =>
  new Proxy<P>(port, {
    get: (target, property): unknown => Reflect.get(property in other ? other : target, property),
  });

const withMessages = (ports: NodePorts, other: Partial<MessageStore>): NodePorts => ({
  ...ports,
  messages: otherwise(ports.messages, other),
});

const withTokens = (ports: NodePorts, other: Partial<TokenStore>): NodePorts => ({
  ...ports,
  tokens: otherwise(ports.tokens, other),
});

export const mutations: readonly Mutation[] = [
  {
    name: "acknowledged before the insert has resolved",
    change: (ports) =>
      withMessages(ports, {
        insert: async (inserts) => {
          void ports.messages.insert(inserts).catch(() => undefined);
          return inserts.map(() => "inserted");
        },
      }),
  },
  {
    name: "settled whatever the epoch",
    change: (ports) =>
      withMessages(ports, {
        settle: async (settlements) => {
          const now = await Promise.all(
            settlements.map(({ message }) => ports.messages.get(message.tenant, [message.id])),
          );
          return ports.messages.settle(
            settlements.map((each, i) => ({ ...each, epoch: now[i]?.[0]?.epoch ?? each.epoch })),
          );
        },
      }),
  },
  {
    name: "the lease never renewed",
    change: (ports) => withMessages(ports, { renew: async () => [] }),
  },
  {
    name: "the lane's alarm forgotten",
    change: (ports) =>
      withMessages(ports, {
        rest: (lane, seq, _wakeAt, window) => ports.messages.rest(lane, seq, undefined, window),
      }),
  },
  {
    name: "claimed although it is not claimable",
    change: (ports, model) =>
      withMessages(ports, {
        claim: async (ids, owner) => {
          const claimed = await ports.messages.claim(ids, owner);
          const missed = ids.filter((id) => !claimed.some(({ message }) => message.id === id));
          const taken = missed
            .flatMap((id) => model.inspect.records.get(id) ?? [])
            .filter((record) => isIn(record, "claimed"));
          return [...claimed, ...taken];
        },
      }),
  },
  {
    name: "the callback told before the dead letter is written",
    change: (ports, _model, life) => ({
      ...ports,
      deadLetters: otherwise(ports.deadLetters, {
        insert: async (letters) => {
          life.clock.after(
            2_000,
            () => void ports.deadLetters.insert(letters).catch(() => undefined),
          );
        },
      }),
    }),
  },
  {
    name: "the outbox cleared before its items are safe",
    change: (ports) =>
      withMessages(ports, {
        settle: async (settlements) => {
          const settled = await ports.messages.settle(settlements);
          const items = settlements.flatMap(({ message, append }) =>
            append.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
          );
          await ports.messages.clear(items);
          return settled;
        },
      }),
  },
  {
    name: "a hint instead of an alarm",
    change: (ports) =>
      withMessages(ports, {
        insert: (inserts) =>
          ports.messages.insert(
            inserts.map((insert) => ({
              ...insert,
              record: { ...insert.record, wakeAt: undefined },
            })),
          ),
      }),
  },
  {
    name: "promoted without a slot",
    change: (ports) => withTokens(ports, { acquire: async (_lane, ids) => ({ granted: ids }) }),
  },
  {
    name: "the rate not counted",
    change: (ports) =>
      withTokens(ports, {
        acquire: (lane, ids, { rate: _, ...limits }) => ports.tokens.acquire(lane, ids, limits),
      }),
  },
  {
    name: "the deduplication key deleted when the insert fails",
    change: (ports, model) =>
      withMessages(ports, {
        insert: async (inserts) => {
          try {
            return await ports.messages.insert(inserts);
          } catch (error) {
            for (const { deduplication } of inserts)
              for (const { key } of deduplication ?? []) model.forgetKey(key);
            throw error;
          }
        },
      }),
  },
  {
    name: "the deduplication key confirmed before the insert",
    change: (ports) =>
      withTokens(ports, {
        claim: async (entries) => {
          const windows = await ports.tokens.claim(entries);
          await ports.tokens.confirm(entries.filter((_, i) => windows[i]?.kind === "mine"));
          return windows;
        },
      }),
  },
  {
    name: "a failure of ours consumes a retry",
    change: (ports) =>
      withMessages(ports, {
        settle: (settlements) =>
          ports.messages.settle(
            settlements.map((each) =>
              each.deferrals > 0 ? { ...each, retried: each.retried + 1 } : each,
            ),
          ),
      }),
  },
  {
    name: "the retry made at once",
    change: (ports) =>
      withMessages(ports, {
        settle: (settlements) =>
          ports.messages.settle(
            settlements.map((each) =>
              each.next.kind === "held" && each.deferrals === 0
                ? { ...each, next: { kind: "due", hints: 0 }, wakeAt: ports.clock.now() }
                : each,
            ),
          ),
      }),
  },
  {
    name: "the delay forgotten",
    change: (ports) =>
      withMessages(ports, {
        insert: (inserts) =>
          ports.messages.insert(
            inserts.map(({ record, ...rest }) => ({
              ...rest,
              record: isIn(record, "held")
                ? { ...record, state: { kind: "due", hints: 0 }, wakeAt: ports.clock.now() }
                : record,
            })),
          ),
      }),
  },
  {
    name: "the tombstone forgotten",
    change: (ports, model) =>
      withMessages(ports, {
        removeFinished: async (...given) => {
          const removed = await ports.messages.removeFinished(...given);
          model.forgetTombstones();
          return removed;
        },
      }),
  },
  {
    name: "the cancel said and not done",
    change: (ports) =>
      withMessages(ports, {
        cancel: async (tenant, ids) => {
          const records = await ports.messages.get(tenant, ids);
          return records.map((record) =>
            record && !isFinished(record.state)
              ? { kind: "canceled", message: record.message, was: record.state.kind, left: [] }
              : { kind: "unknown" },
          );
        },
      }),
  },
  {
    name: "the group expansion not resumable",
    change: (ports) =>
      withMessages(ports, {
        ring: async (...given) => {
          const rings = await ports.messages.ring(...given);
          for (const { message, state } of rings.expanding) {
            await ports.messages.expanded(
              message.id,
              state.upTo,
              message.fanOut?.endpointCount ?? 0,
              true,
            );
          }
          return rings;
        },
      }),
  },
  {
    name: "callbacks under random ids",
    change: (ports) =>
      withMessages(ports, {
        insert: (inserts) =>
          ports.messages.insert(
            inserts.map(({ record, ...rest }) => {
              const { message } = record;
              if (message.origin.callbackOf === undefined) return { ...rest, record };
              return {
                ...rest,
                record: { ...record, message: { ...message, id: ports.ids.next() } },
              };
            }),
          ),
      }),
  },
  {
    name: "children under the ids of their neighbours",
    change: (ports) =>
      withMessages(ports, {
        insert: (inserts) =>
          ports.messages.insert(
            inserts.map(({ record, ...rest }) => {
              const of = parentOf(record.message.id);
              return of
                ? {
                    ...rest,
                    record: { ...record, message: { ...record.message, id: neighbour(of) } },
                  }
                : { ...rest, record };
            }),
          ),
      }),
  },
  {
    name: "a slot given back that another granter's message runs on",
    change: (ports) => withMessages(ports, { slotHolders: async () => [] }),
  },
  {
    name: "a pending deduplication key taken for an accepted publish",
    change: (ports) =>
      withTokens(ports, {
        claim: async (entries) =>
          (await ports.tokens.claim(entries)).map((window) =>
            window.kind === "pending" ? { kind: "done", id: window.id } : window,
          ),
      }),
  },
  {
    name: "facts said and lost",
    change: (ports) => ({
      ...ports,
      bus: otherwise(ports.bus, {
        publish: async (topic, events) =>
          topic === "message.settled" ? undefined : ports.bus.publish(topic, events),
      }),
    }),
  },
];

const neighbour = ({
  parent,
  index,
}: {
  readonly parent: MessageId;
  readonly index: number;
}): MessageId => messageId(`${parent}_${(index ^ 1).toString(32)}`);
