/**
 * The history according to the documents: a write is noted when the server makes it, whether or not its client lives
 * to hear of it. The requests of the client, records, settlements and changes of runs, give the rest.
 */
import {
  type DlqId,
  finishedKinds,
  isNamed,
  type MessageId,
  type MessageRecord,
  type Owner,
  type Run,
  type Schedule,
  type Settlement,
  type StateKind,
  type TenantId,
} from "@posthaste/domain";
import { type NextUse, type RunWrite } from "@posthaste/ports";
import { type Change } from "../mongodb/server.ts";
import { type Plain } from "../mongodb/values.ts";
import { type RunChange } from "../runs/seen.ts";
import { type Stores } from "../stores.ts";
import { appliedKey, type History, scheduleKeyText } from "../world/history.ts";
import { type Life } from "../world/node.ts";
import { nodeOf, noteClaim, noteLetterTaken, noteLogged } from "../world/observed.ts";
import { type World } from "../world/world.ts";

export type DocumentsSeen = {
  /** Called for each change that the server has made. */
  readonly changed: (change: Change) => void;
  /** Returns the ports of a process, and records the requests. */
  readonly asked: (stores: Stores, life: Life) => Stores;
};

/** A record in its document; a tombstone and a row of the log have no epoch. */
export type Standing = {
  readonly _id: MessageId;
  readonly state: StateKind;
  readonly epoch: number;
  readonly leaseLosses: number;
  readonly owner?: Owner;
  readonly message: { readonly createdAt: number; readonly url: string };
  readonly outbox: readonly unknown[];
  readonly told?: unknown;
};
export const standing = (document: Plain | undefined): Standing | undefined =>
  document && "epoch" in document ? (document as unknown as Standing) : undefined;

type AskedChange = { readonly write: RunWrite } & Pick<RunChange, "before" | "inherited">;

export function documentsSeen(history: History, world: World): DocumentsSeen {
  /** Publishes that share a deduplication id may ask for different records under one id. */
  const records = new Map<MessageId, MessageRecord[]>();
  const settlements = new Map<string, Settlement>();
  /** By the client, the root and the version: two starts of one id have one key, and roots of their own. */
  const changes = new Map<string, AskedChange>();
  /** When each node first read each version of a schedule. */
  const schedulesRead = new Map<string, number>();

  const askInsert = (record: MessageRecord): void => {
    const { id } = record.message;
    records.set(id, [...(records.get(id) ?? []), record]);
  };
  const askChange = (by: string, change: AskedChange): RunWrite => {
    const { run, deliveries } = change.write;
    changes.set(`${by} ${run.root} ${run.version}`, change);
    for (const record of deliveries) askInsert(record);
    return change.write;
  };

  const messageChanged = ({ before, after, by }: Change): void => {
    const was = standing(before);
    const is = standing(after);
    if (!was) return is && inserted(is, by);
    if (!is) return removed(was);
    const { _id: id, epoch, state } = is;
    if (epoch < was.epoch) history.violate("I4", `the epoch of ${id} went back`);
    if (isOver(was) && state !== was.state)
      history.violate("I2", `${id} was ${was.state} and is ${state}`);
    if (state === "canceled" && was.state !== "canceled") canceled(id, was, by);
    else if (state === "claimed" && epoch > was.epoch) claimed(is);
    else if (was.state === "claimed" && state !== "claimed") settled(is, by);
    if (is.told && !was.told) noteLogged(history, id, world.now);
  };

  const inserted = ({ _id: id, epoch, message, owner, state }: Standing, by: string): void => {
    const record = records
      .get(id)
      ?.find(
        ({ message: { createdAt, url } }) => createdAt === message.createdAt && url === message.url,
      );
    world.trace(`${by} inserts ${id} ${state}`);
    if (!record) return history.violate("C2", `no process has asked for ${id}`);
    const life = { record, at: world.now, node: nodeOf(by) };
    history.lives.set(id, [...(history.lives.get(id) ?? []), life]);
    history.claims.delete(id);
    if (owner) noteClaim(history, id, epoch, nodeOf(owner), world.now);
  };
  const removed = ({ _id: id, outbox, state }: Standing): void => {
    if (!isOver({ state })) history.violate("I5", `${id} was removed while ${state}`);
    if (outbox.length > 0)
      history.violate("I5", `${id} was removed with ${outbox.length} follow-ups to do`);
  };
  const claimed = ({ _id: id, epoch, leaseLosses, owner }: Standing): void => {
    world.trace(`${owner} claims ${id} epoch ${epoch}`);
    const first = history.lives.get(id)?.[0]?.record;
    if (first && isNamed(first) && epoch === 2 && leaseLosses > 0)
      history.violate("C24", `${id} has lost a lease that only its insert had taken`);
    if (leaseLosses > 0) history.count("takeovers");
    if (owner) noteClaim(history, id, epoch, nodeOf(owner), world.now);
  };
  /** A release leaves a claim, too, and is no settlement. */
  const settled = ({ _id: id, epoch, state }: Standing, by: string): void => {
    const key = appliedKey(id, epoch);
    const settlement = settlements.get(`${by} ${key}`);
    world.trace(`${by} settles ${id} epoch ${epoch} → ${state}`);
    if (settlement?.next.kind === state)
      history.applied.set(key, { node: nodeOf(by), at: world.now, settlement });
    else if (isOver({ state }))
      history.violate("I4", `${by} has ended ${id} at epoch ${epoch}, which it has not`);
  };
  const canceled = (id: MessageId, was: Standing, by: string): void => {
    world.trace(`${by} cancels ${id}, which was ${was.state}`);
    history.cancels.set(id, { at: world.now, ackedAt: undefined });
  };

  const scheduleChanged = ({ before, after, by }: Change): void => {
    const key = scheduleKeyText((after ?? before) as unknown as Schedule);
    world.trace(`${by} writes ${key} version ${String(after?.["version"])}`);
    const writes = history.schedules.get(key) ?? [];
    if (!after) return void history.schedules.set(key, [...writes, removal(world.now)]);
    if (after["version"] === before?.["version"]) return;
    const { _id, body, write, ...schedule } = after as unknown as Schedule & Plain;
    const node = nodeOf(by);
    const read = schedulesRead.get(`${node} ${versionText(schedule, schedule.version - 1)}`);
    const made = {
      by: node.startsWith("gateway") ? ("caller" as const) : ("scheduler" as const),
      ...{ schedule, node, at: world.now, readAt: read ?? -Infinity },
    };
    history.schedules.set(key, [...writes, made]);
  };

  /** A write may make several changes, each decided on the one before. */
  const runChanged = ({ before, after, by }: Change): void => {
    const is = after as (Plain & Run & { readonly _id: string }) | undefined;
    if (!is) return;
    const from = before ? Number(before["version"]) : is.version - 1;
    for (let version = from + 1; version <= is.version; version++) {
      const asked = changes.get(`${by} ${is.root} ${version}`);
      world.trace(`${by} writes ${is._id} version ${version} ${is.state.kind}`);
      if (!asked) return history.violate("R1", `no process has asked for ${is._id} ${version}`);
      const { write, ...rest } = asked;
      const { run, parts } = write;
      history.runs.note({ node: nodeOf(by), at: world.now, after: run, parts, ...rest });
    }
  };

  const byCollection: Readonly<Record<string, (change: Change) => void>> = {
    messages: messageChanged,
    schedules: scheduleChanged,
    runs: runChanged,
    fan_outs: ({ after, id }) => {
      const tenant = after?.["tenant"] as TenantId | undefined;
      if (tenant !== undefined) history.fanOuts.set(id as MessageId, tenant);
    },
    message_log: ({ after }) => {
      const item = after?.["item"] as { readonly message: { readonly id: MessageId } } | undefined;
      if (item) noteLogged(history, item.message.id, world.now);
    },
    dead_letters: ({ before, after, by }) => {
      const item = before?.["item"] as { readonly id: DlqId } | undefined;
      if (item && !after) noteLetterTaken({ history, world, node: nodeOf(by) }, item.id);
    },
  };

  return {
    changed: (change) => {
      if (change.by !== checksClient) byCollection[change.collection]?.(change);
    },
    asked: (stores, { name: by, node }) => ({
      ...stores,
      records: {
        ...stores.records,
        insert: (inserts, intake) => {
          for (const { record } of inserts) askInsert(record);
          return stores.records.insert(inserts, intake);
        },
        settle: async (asked) => {
          for (const settlement of asked) {
            const { message, epoch } = settlement;
            settlements.set(`${by} ${appliedKey(message.id, epoch)}`, settlement);
            const claim = history.claims.get(message.id)?.find((each) => each.epoch === epoch);
            if (claim && claim.node !== node.name)
              history.violate("I4", `${by} settles ${message.id} at epoch ${epoch} of another`);
          }
          const answers = await stores.records.settle(asked);
          history.count("fenced", answers.filter(({ kind }) => kind === "fenced").length);
          return answers;
        },
      },
      runs: {
        ...stores.runs,
        start: (tenant, id, intake, make) =>
          stores.runs.start(tenant, id, intake, (use) =>
            askChange(by, { before: undefined, write: make(use) }),
          ),
        resume: (tenant, id, inherited, make) => {
          const from = { of: inherited.of.key, names: inherited.names };
          const given = (use: NextUse): RunWrite =>
            askChange(by, { before: undefined, write: make(use), inherited: from });
          return stores.runs.resume(tenant, id, inherited, given);
        },
        change: (address, decide) =>
          stores.runs.change(address, (before) => {
            const decision = decide(before);
            if (decision.write) askChange(by, { before, write: decision.write });
            return decision;
          }),
      },
      schedules: {
        ...stores.schedules,
        get: async (keys) => {
          const found = await stores.schedules.get(keys);
          for (const schedule of found) {
            if (!schedule) continue;
            const text = `${node.name} ${versionText(schedule, schedule.version)}`;
            if (!schedulesRead.has(text)) schedulesRead.set(text, world.now);
          }
          return found;
        },
      },
    }),
  };
}

/** The client by which the checks read: it makes no history. */
export const checksClient = "the checks";

export const isOver = ({ state }: Pick<Standing, "state">): boolean =>
  finishedKinds.some((kind) => kind === state);

const removal = (at: number) => ({ by: "removal", at }) as const;

const versionText = (schedule: Schedule, version: number): string =>
  `${scheduleKeyText(schedule)} ${schedule.uid} ${version}`;
