/** Planted bugs of queues (docs/design/queues). Some are halves of a write, which the store does for them. */
import { isFinished, type MessageId, queueId, type QueueId } from "@posthaste/domain";
import { type Model } from "./backend.ts";
import { dueAtOnce, inserting, type Mutation, type NodePorts, withPort } from "./mutate.ts";

const turnsOf = ({ inspect }: Model, queue: QueueId): readonly MessageId[] => [
  ...(inspect.queues.get(queue)?.turns.keys() ?? []),
];

const planted: readonly Mutation[] = [
  {
    name: "a message of a queue not queued",
    change: dueAtOnce("queued"),
  },
  {
    name: "a callback that keeps no turn",
    change: (ports) =>
      inserting(ports, ({ message: { turnOf: _, ...message }, ...record }) => ({
        ...record,
        message,
      })),
  },
  {
    name: "a pause of a queue that is said and not done",
    change: (ports) =>
      withPort(ports, "queues", {
        put: async (change, max) =>
          change.paused ? { takenBack: [] } : ports.queues.put(change, max),
      }),
  },
  {
    name: "a deleted queue whose messages go on",
    change: (ports) => withPort(ports, "queues", { end: async () => [] }),
  },
  {
    name: "a publish to a group that reserves no places in its queue",
    change: (ports) => ({
      ...ports,
      fanOuts: {
        ...ports.fanOuts,
        insert: (fanOut, intake, deduplication) =>
          ports.fanOuts.insert(
            { ...fanOut, ...(fanOut.queue !== undefined && { endpointCount: 0 }) },
            intake,
            deduplication,
          ),
      },
    }),
  },
  {
    name: "a queue resumed without its alarm",
    change: (ports, { queueHalves }) =>
      withPort(ports, "queues", {
        resume: async (tenant, name) => {
          await ports.queues.resume(tenant, name);
          queueHalves.silence(queueId(tenant, name));
        },
      }),
  },
  {
    name: "a full queue that sleeps",
    change: (ports, model) =>
      withPort(ports, "queues", {
        admit: async (queues, ending) => {
          const admitted = await ports.queues.admit(queues, ending);
          for (const queue of queues)
            if (turnsOf(model, queue).length > 0) model.queueHalves.silence(queue);
          return admitted;
        },
      }),
  },
  {
    name: "the last child of a group that wakes no queue",
    change: (ports, { inspect, queueHalves }) =>
      withPort(ports, "fanOuts", {
        advance: async (id, from, upTo, done) => {
          const isMine = await ports.fanOuts.advance(id, from, upTo, done);
          const queue = inspect.fanOuts.get(id)?.queue;
          if (done && queue !== undefined) queueHalves.silence(queue);
          return isMine;
        },
      }),
  },
  {
    name: "a turn that ends with its message, whatever its callbacks do",
    change: (ports, { queueHalves }) =>
      withPort(ports, "records", {
        settle: async (settlements) => {
          const settled = await ports.records.settle(settlements);
          for (const { message, next } of settlements)
            if (isFinished(next)) queueHalves.endTurn(message.id);
          return settled;
        },
      }),
  },
  {
    name: "a resume that takes the turns that it gives",
    change: (ports, model) =>
      withPort(ports, "queues", {
        resume: async (tenant, name) => {
          const queue = queueId(tenant, name);
          await ports.queues.resume(tenant, name);
          await ports.queues.admit([queue]);
          for (const id of turnsOf(model, queue)) model.queueHalves.endTurn(id);
        },
      }),
  },
  {
    name: "a pause that leaves what is postponed its turn",
    change: (ports, model) => givenBehindPause(ports, model, "held"),
  },
  {
    name: "a pause that a promotion under way passes",
    change: (ports, model) => givenBehindPause(ports, model, "due"),
  },
  {
    name: "what came late to a deleted queue left there",
    change: (ports) =>
      withPort(ports, "queues", {
        admit: async (queues, ending) =>
          (await ports.queues.admit(queues, ending)).map((each) => ({ ...each, ended: [] })),
        end: async (tenant, name) => {
          await ports.queues.end(tenant, name);
          return [];
        },
      }),
  },
  {
    name: "a deletion of a queue that takes what came later",
    change: (ports, { inspect }) =>
      withPort(ports, "queues", {
        admit: async (queues, ending) =>
          (await ports.queues.admit(queues, ending)).map((each) => {
            const row = inspect.queues.get(each.queue);
            return row?.lane.purgeUpTo === undefined
              ? each
              : { ...each, ended: [...row.line.keys()] };
          }),
      }),
  },
];

/** Gives a turn after the pause to the messages that were in this state before it. */
const givenBehindPause = (ports: NodePorts, model: Model, kind: "held" | "due"): NodePorts =>
  withPort(ports, "queues", {
    put: async (change, max) => {
      const held = turnsOf(model, queueId(change.tenant, change.name)).filter(
        (id) => model.inspect.records.get(id)?.state.kind === kind,
      );
      const done = await ports.queues.put(change, max);
      if (change.paused) for (const id of held) model.queueHalves.giveTurn(id);
      return done;
    },
  });

export const queueMutations: readonly Mutation[] = planted.map((mutation) => ({
  ...mutation,
  shownBy: "queues",
}));
