/**
 * The TokenStore port on Redis: deduplication windows and flow slots, which a flush may erase
 * (docs/design/lanes#slots-and-rates, docs/design/deduplication#take-over).
 *
 * A call is about many keys. On one server all keys of a prefix have one hash tag, and the questions of a turn
 * are sent as one call. In a cluster only the two keys of a lane share a tag, and the questions of a turn are sent as
 * one call for each slot.
 */
import { type FlowId } from "@posthaste/domain";
import {
  type Claim,
  type Clock,
  type DeduplicationEntry,
  type Log,
  type TokenStore,
} from "@posthaste/ports";
import { acquiredIn, numberedIn, numberIn, peekedIn, spentIn, windowIn } from "./answers.ts";
import { acquireArgs, countedIds, restoreArgs } from "./arguments.ts";
import { Cluster } from "./cluster/cluster.ts";
import { slotOf } from "./cluster/hash-slot.ts";
import { gather, gatherByGroup, type Question, type Send } from "./gather.ts";
import { type Script } from "./link/connection.ts";
import { dialOne, type RedisPlace } from "./link/dial.ts";
import { type Counts, Link } from "./link/link.ts";
import * as scripts from "./scripts.ts";

export type RedisTokensOptions = Omit<RedisPlace, "connectMs"> & {
  /** As in `RedisPlace`. If absent, two seconds, or the budget if that is more. */
  readonly connectMs?: number | undefined;
  /** The beginning of all keys; installations that share a Redis have different prefixes. */
  readonly prefix: string;
  /** The time that Redis has for an answer before it counts as away. */
  readonly budgetMs?: number;
  readonly explain?: (error: unknown) => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

export type RedisTokens = TokenStore & {
  /** Reports whether calls are sent now, as far as this process knows. */
  isUp(): boolean;
  problem(): string | undefined;
  counts(): Counts;
  close(): Promise<void>;
};

const budgetMsDefault = 50;
const connectMsMin = 2_000;
const holdersAtOnceMax = 400;

/**
 * Opens at once, even while Redis is away; connects and reconnects by itself. Calls that Redis cannot answer now, or has not
 * answered within the budget, reject as unavailable; repeating them with the same arguments is safe.
 */
export function openRedisTokens(given: RedisTokensOptions): RedisTokens {
  const { budgetMs = budgetMsDefault } = given;
  const connectMs = given.connectMs ?? Math.max(connectMsMin, budgetMs);
  const options = { ...given, budgetMs, connectMs };
  const { way, names, asking } = options.mode === "cluster" ? inCluster(options) : onOne(options);
  const windowsOf = (entries: readonly DeduplicationEntry[]): readonly Question[] =>
    entries.map(({ key, id }) => ({ keys: [names.window(key)], args: [id] }));
  const claimsOf = (entries: readonly Claim[]): readonly Question[] =>
    entries.map(({ key, id, instead = "" }) => ({
      keys: [names.window(key)],
      args: [id, instead],
    }));
  const inLane = (lane: FlowId, args: Question["args"]): Question => ({
    keys: names.lane(lane),
    args,
  });

  const claim = asking(scripts.claim);
  const confirm = asking(scripts.confirm);
  const acquire = asking(scripts.acquire);
  const use = asking(scripts.use);
  const putBack = asking(scripts.putBack);
  const release = asking(scripts.release);
  const restore = asking(scripts.restore);
  const resetRate = asking(scripts.resetRate);
  const spend = asking(scripts.spend);
  const peek = asking(scripts.peek);

  return {
    claim: async (entries) => (await claim(claimsOf(entries))).map(windowIn),
    confirm: async (entries) => void (await confirm(windowsOf(entries))),
    acquire: async (lane, ids, limits) => {
      const [answer] = await acquire([inLane(lane, acquireArgs(ids, limits))]);
      return acquiredIn(answer, ids);
    },
    use: async (lane, ids) => {
      const [answer] = await use([inLane(lane, countedIds(ids))]);
      return numberedIn(answer, ids);
    },
    hold: async (lane, ids) => void (await putBack([inLane(lane, countedIds(ids))])),
    release: async (lane, ids) => void (await release([inLane(lane, countedIds(ids))])),
    restore: async (lane, holders, window) => {
      let told = 0;
      // Many calls that each take Redis little time; the lane is known after the last.
      do {
        const some = holders.slice(told, told + holdersAtOnceMax);
        told += some.length;
        const isKnown = told >= holders.length;
        await restore([inLane(lane, restoreArgs(some, window, isKnown))]);
      } while (told < holders.length);
    },
    resetRate: async (lane) => {
      const [answer] = await resetRate([inLane(lane, [])]);
      return { startedAt: numberIn(answer), count: 0 };
    },
    spend: async (name, ...counted) => {
      const [answer] = await spend([{ keys: [names.spent(name)], args: counted.map(String) }]);
      return spentIn(answer);
    },
    peek: async (lane) => {
      const [answer] = await peek([inLane(lane, [])]);
      return peekedIn(answer);
    },
    isUp: () => way.problem === undefined,
    problem: () => way.problem,
    counts: () => way.counts,
    close: () => way.close(),
  };
}

type Opening = RedisTokensOptions & RedisPlace & { readonly budgetMs: number };

type Asked = {
  readonly way: Pick<Link, "problem" | "counts" | "close">;
  readonly names: Names;
  readonly asking: (script: Script) => Send;
};

type Names = {
  readonly window: (key: string) => string;
  readonly spent: (name: string) => string;
  readonly lane: (lane: FlowId) => readonly [lane: string, slots: string];
};

function onOne({ prefix, budgetMs, explain, clock, log, ...place }: Opening): Asked {
  const { connectMs } = place;
  const root = `{${prefix}tokens}`;
  const dial = dialOne(place);
  const probeKey = () => `${root}:probe`;
  const link = new Link({ dial, budgetMs, connectMs, probeKey, explain, clock, log });
  return {
    way: link,
    names: {
      window: (key) => `${root}:window:${key}`,
      spent: (name) => `${root}:spent:${name}`,
      lane: (lane) => [`${root}:lane:${lane}`, `${root}:slots:${lane}`],
    },
    asking: (script) => gather((questions) => link.ask(script, questions)),
  };
}

function inCluster({ prefix, budgetMs, explain, clock, log, ...place }: Opening): Asked {
  const { connectMs } = place;
  const root = `${prefix}tokens`;
  const cluster = new Cluster({
    place,
    budgetMs,
    connectMs,
    probeStart: `${root}:probe:`,
    explain,
    clock,
    log,
  });
  const slotOfQuestion = ({ keys: [key = ""] }: Question): number => slotOf(key);
  return {
    way: cluster,
    names: {
      window: (key) => `${root}:window:${key}`,
      spent: (name) => `${root}:spent:${name}`,
      lane: (lane) => [`${root}:lane:{${lane}}`, `${root}:slots:{${lane}}`],
    },
    asking: (script) =>
      gatherByGroup((questions) => cluster.ask(script, questions), slotOfQuestion),
  };
}
