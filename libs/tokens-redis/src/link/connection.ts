/**
 * One connection that has proved itself: this Redis answers, runs scripts, takes writes and evicts nothing. It is used
 * until it ends, and never mended: the next one is made anew and has to prove the same.
 */
import { createHash } from "node:crypto";
import { type Clock, type Log, within } from "@posthaste/ports";
import { Redis } from "ioredis";
import { reasonOf } from "./reason.ts";

export type Script = { readonly lua: string; readonly sha1: string };

export const script = (lua: string): Script => ({
  lua,
  sha1: createHash("sha1").update(lua).digest("hex"),
});

export type Connection = {
  /** Another one after each start of the server, even if it kept its data. */
  readonly serverId: string;
  readonly run: (
    script: Script,
    keys: readonly string[],
    args: readonly string[],
  ) => Promise<unknown>;
  /** Why it ended. */
  readonly ended: Promise<string>;
  readonly end: () => void;
};

export type ConnectionOptions = {
  readonly url: string;
  /** For an answer; the connection itself has `dialMsMax`. */
  readonly budgetMs: number;
  /** A key that may be written to find out whether this server takes writes. */
  readonly probeKey: string;
  readonly clock: Clock;
  readonly log: Log;
};

const dialMsMax = 2_000;
const hangUpMsMax = 200;
const keepAliveMs = 30_000;

/** Rejects with the reason when there is no such connection to be had. `signal` ends it, made or in the making. */
export async function connect(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const { url, budgetMs, clock } = options;
  const client = new Redis(url, {
    // Nothing is queued, resent or mended below us: a caller hears at once how it is.
    lazyConnect: true,
    // Scripts answer the same in both; proxies and hosted services need not know HELLO.
    protocol: 2,
    retryStrategy: () => null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    connectionName: "posthaste",
    connectTimeout: dialMsMax,
    disconnectTimeout: hangUpMsMax,
    keepAlive: keepAliveMs,
  });
  const end = (): void => client.disconnect();
  let error: unknown;
  client.on("error", (cause) => (error = cause));
  const ended = new Promise<string>((resolve) => {
    client.once("end", () => {
      signal.removeEventListener("abort", end);
      resolve(error ? reasonOf(error) : "the connection was closed");
    });
  });
  signal.addEventListener("abort", end);
  try {
    await within(clock, dialMsMax, client.connect(), noAnswer(dialMsMax));
    const serverId = await within(clock, budgetMs, prove(client, options), noAnswer(budgetMs));
    return {
      serverId,
      run: (asked, keys, args) => run(client, asked, keys, args),
      ended,
      end,
    };
  } catch (cause) {
    end();
    throw error ?? cause;
  }
}

/** The answer is read by the caller: scripts answer in forms of their own. */
async function run(
  client: Redis,
  { lua, sha1 }: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    // After its first start, or a SCRIPT FLUSH, the server has to be told the script once more.
    if (!reasonOf(error).startsWith("NOSCRIPT")) throw error;
    return client.eval(lua, keys.length, ...keys, ...args);
  }
}

/** Loading, read-only, out of memory, forbidden: a server that cannot do our work says so here. Answers its id. */
async function prove(client: Redis, { probeKey, log }: ConnectionOptions): Promise<string> {
  const [policy, info] = await Promise.all([
    evictionPolicy(client),
    client.info("server"),
    client.eval("return redis.call('SET', KEYS[1], '', 'PX', 1000)", 1, probeKey),
  ]);
  if (policy === undefined) {
    log.warn("tokens.eviction-unknown", {
      reason: "this Redis does not tell its maxmemory-policy; see that it is noeviction",
    });
  } else if (policy !== "noeviction") {
    throw new Error(`its maxmemory-policy is ${policy} and must be noeviction`);
  }
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
}

/** Undefined where asking is forbidden, as it is with some hosted Redis services. */
async function evictionPolicy(client: Redis): Promise<string | undefined> {
  try {
    const answer: unknown = await client.config("GET", "maxmemory-policy");
    return Array.isArray(answer) && typeof answer[1] === "string" ? answer[1] : undefined;
  } catch (error) {
    if (/^(NOPERM|ERR unknown)/.test(reasonOf(error))) return undefined;
    throw error;
  }
}

export const noAnswer = (ms: number) => (): Error => new Error(`no answer within ${ms} ms`);
