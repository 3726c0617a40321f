/**
 * Planted bugs: careless changes, done to the ports of a process. The checks must catch each of them; a check that
 * nothing can fail proves nothing.
 */
import {
  flowsSetBy,
  isExpanding,
  isFinished,
  type MessageId,
  messageId,
  parentOf,
} from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { byKind } from "@posthaste/testing";
import { type Mutation, dueAtOnce, inserting, insertingAs, withPort } from "./mutate.ts";
import { namingMutations } from "./naming-mutations.ts";
import { queueMutations } from "./queue-mutations.ts";
import { runMutations } from "./runs/mutations.ts";
import { clockMutations } from "./clock-mutations.ts";
import { documentMutations } from "./documents/mutations.ts";
import { letterMutations } from "./letter-mutations.ts";
import { scheduleMutations } from "./schedule-mutations.ts";

export const messageMutations: readonly Mutation[] = [
  {
    name: "acknowledged before the insert has resolved",
    change: (ports) =>
      withPort(ports, "records", {
        insert: async (inserts, intake) => {
          void ports.records.insert(inserts, intake).catch(() => undefined);
          return inserts.map(() => "inserted");
        },
      }),
  },
  {
    name: "the lease never renewed",
    change: (ports) => withPort(ports, "records", { renew: async () => [] }),
  },
  {
    name: "a wake that brings no source forward",
    change: (ports) =>
      withPort(ports, "bus", {
        subscribe: (topic, group, handle, options) => {
          const unlessAlarm: typeof handle = (events) =>
            handle(events.filter((event) => !("source" in event)));
          return ports.bus.subscribe(topic, group, unlessAlarm, options);
        },
      }),
  },
  {
    name: "the lane's alarm forgotten",
    change: (ports) =>
      withPort(ports, "flowLanes", {
        rest: (lane, seq, _wakeAt, window) => ports.flowLanes.rest(lane, seq, undefined, window),
      }),
  },
  {
    name: "granted although the lane is paused",
    change: (ports) =>
      withPort(ports, "flowLanes", {
        rows: async (ids) =>
          (await ports.flowLanes.rows(ids)).map((row) => ({ ...row, paused: false })),
      }),
  },
  {
    name: "limits published although they are pinned",
    change: (ports) =>
      withPort(ports, "records", {
        insert: async (inserts, intake) => {
          for (const { lane } of inserts.flatMap(({ record }) => flowsSetBy(record.message)))
            await ports.flowLanes.unpin(lane, { parallelism: true, rate: true });
          return ports.records.insert(inserts, intake);
        },
      }),
  },
  {
    name: "resumed without the lane's alarm",
    change: (ports) =>
      withPort(ports, "flowLanes", {
        resume: async (flow) => {
          await ports.flowLanes.resume(flow);
          const [row] = await ports.flowLanes.rows([flow.lane]);
          if (row) await ports.flowLanes.rest(row.id, row.seq, undefined, row.window);
        },
      }),
  },
  {
    name: "the callback told before the dead letter is written",
    change: (ports, _model, life) =>
      withPort(ports, "deadLetters", {
        insert: async (letters) => {
          life.clock.after(
            2_000,
            () => void ports.deadLetters.insert(letters).catch(() => undefined),
          );
        },
      }),
  },
  {
    name: "the outbox cleared before its items are safe",
    change: (ports) =>
      withPort(ports, "records", {
        settle: async (settlements) => {
          const settled = await ports.records.settle(settlements);
          const items = settlements.flatMap(({ message, append }) =>
            append.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
          );
          await ports.records.clear(items);
          return settled;
        },
      }),
  },
  {
    name: "a hint instead of an alarm",
    change: (ports) => inserting(ports, (record) => ({ ...record, wakeAt: undefined })),
  },
  {
    name: "promoted without a slot",
    change: (ports) =>
      withPort(ports, "tokens", { acquire: async (_lane, ids) => ({ granted: ids }) }),
  },
  {
    name: "the rate not counted",
    change: (ports) =>
      withPort(ports, "tokens", {
        acquire: (lane, ids, { rate: _, ...limits }) => ports.tokens.acquire(lane, ids, limits),
      }),
  },
  {
    name: "the deduplication key deleted when the insert fails",
    isRare: true,
    change: (ports, model) =>
      withPort(ports, "records", {
        insert: async (inserts, intake) => {
          try {
            return await ports.records.insert(inserts, intake);
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
      withPort(ports, "tokens", {
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
      withPort(ports, "records", {
        settle: (settlements) =>
          ports.records.settle(
            settlements.map((each) =>
              each.deferrals > 0 ? { ...each, retried: each.retried + 1 } : each,
            ),
          ),
      }),
  },
  {
    name: "the retry made at once",
    change: (ports) =>
      withPort(ports, "records", {
        settle: (settlements) =>
          ports.records.settle(
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
    change: dueAtOnce("held"),
  },
  {
    name: "a delivery that its settler owed to the log and nothing tells",
    change: (ports, model) =>
      withPort(ports, "records", {
        removeFinished: (...given) => {
          model.forgetLog();
          return ports.records.removeFinished(...given);
        },
      }),
  },
  {
    name: "the cancel said and not done",
    change: (ports) =>
      withPort(ports, "records", {
        cancel: async (tenant, ids) => {
          const records = await ports.records.get(tenant, ids);
          return records.map((record) =>
            record && !isFinished(record.state)
              ? { kind: "canceled", message: record.message, was: record.state.kind, left: [] }
              : { kind: "unknown" },
          );
        },
      }),
  },
  {
    name: "a lane put to rest whatever has come to it",
    change: (ports) =>
      withPort(ports, "flowLanes", {
        rest: async (lane, _seq, wakeAt, window) => {
          const [row] = await ports.flowLanes.rows([lane]);
          return ports.flowLanes.rest(lane, row?.seq ?? 0, wakeAt, window);
        },
      }),
  },
  {
    name: "the group expansion not resumable",
    change: (ports) =>
      withPort(ports, "alarms", {
        ring: async (...given) => {
          const rings = await ports.alarms.ring(...given);
          for (const { id, tenant } of byKind(rings).fanOuts) {
            const [fanOut] = await ports.fanOuts.get(tenant, [id]);
            if (fanOut && isExpanding(fanOut))
              await ports.fanOuts.advance(id, fanOut.state.upTo, fanOut.endpointCount, true);
          }
          return rings;
        },
      }),
  },
  {
    name: "callbacks under random ids",
    change: (ports) =>
      insertingAs(ports, ({ origin }) =>
        origin.callbackOf === undefined ? undefined : ports.ids.next(),
      ),
  },
  {
    name: "children under the ids of their neighbours",
    change: (ports) =>
      insertingAs(ports, ({ id }) => {
        const of = parentOf(id);
        return of && neighbour(of);
      }),
  },
  {
    // Either of the two alone is corrected by the second within ten seconds.
    name: "a lane restored without those who run in it, and no slot held on",
    change: (ports) =>
      withPort(withPort(ports, "flowLanes", { slotHolders: async () => [] }), "tokens", {
        hold: async () => undefined,
      }),
  },
  {
    name: "a pending deduplication key taken for an accepted publish",
    change: (ports) =>
      withPort(ports, "tokens", {
        claim: async (entries) =>
          (await ports.tokens.claim(entries)).map((window) =>
            window.kind === "pending" ? { kind: "done", id: window.id } : window,
          ),
      }),
  },
  {
    name: "work that goes on counted as new on a full disk",
    change: (ports) =>
      withPort(ports, "records", { insert: (inserts) => ports.records.insert(inserts, "new") }),
  },
  {
    name: "the key of what was cancelled kept",
    change: (ports) =>
      withPort(ports, "tokens", {
        claim: (entries) => ports.tokens.claim(entries.map(({ instead: _, ...entry }) => entry)),
      }),
  },
  {
    name: "the key of what was done taken over",
    change: (ports) =>
      withPort(ports, "tokens", {
        claim: async (entries) => {
          const windows = await ports.tokens.claim(entries);
          return ports.tokens.claim(
            entries.map((entry, i) => {
              const window = windows[i];
              return window?.kind === "done" ? { ...entry, instead: window.id } : entry;
            }),
          );
        },
      }),
  },
  {
    name: "facts said and lost",
    change: (ports) =>
      withPort(ports, "bus", {
        publish: async (topic, events) =>
          topic === "message.settled" ? undefined : ports.bus.publish(topic, events),
      }),
  },
  {
    name: "progress of a bulk action without its effects",
    shownBy: "bulkActions",
    change: (ports) =>
      withPort(ports, "records", {
        cancel: async (tenant, ids) =>
          ids.length > 1 ? ids.map(() => ({ kind: "unknown" })) : ports.records.cancel(tenant, ids),
      }),
  },
  {
    // The worker is slow, so that later messages come while it looks.
    name: "a bulk action about what comes later, too",
    shownBy: "bulkActions",
    change: (ports, _model, { clock }) => {
      const upTo = { id: messageId("msg_zzzzzzzzz"), at: Number.MAX_SAFE_INTEGER };
      const slow = withPort(ports, "records", {
        matching: async (...given) => {
          await waitFor(clock, 20_000);
          return ports.records.matching(...given);
        },
      });
      return withPort(slow, "bulkActions", {
        add: (action, max) => ports.bulkActions.add({ ...action, upTo }, max),
      });
    },
  },
];

export const mutations: readonly Mutation[] = [
  ...messageMutations,
  ...queueMutations,
  ...namingMutations,
  ...scheduleMutations,
  ...letterMutations,
  ...clockMutations,
  ...runMutations,
  ...documentMutations,
];

const waitFor = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

const neighbour = ({
  parent,
  index,
}: {
  readonly parent: MessageId;
  readonly index: number;
}): MessageId => messageId(`${parent}_${(index ^ 1).toString(32)}`);
