/**
 * One checked connection: this Redis answers, runs scripts, accepts writes and evicts nothing. A connection is used
 * until it ends, and never repaired: the next one is made anew and checked again.
 */
import { createHash } from "node:crypto";
import { type Clock, type Log, within } from "@posthaste/ports";
import { type Redis } from "ioredis";
import { type Dial, type Endpoint } from "./dial.ts";
import { reasonOf } from "./reason.ts";

export type Script = { readonly lua: string; readonly sha1: string };

export const script = (lua: string): Script => ({
  lua,
  sha1: createHash("sha1").update(lua).digest("hex"),
});

export type Connection = {
  /** Changes at each start of the server, even if it kept its data. */
  readonly serverId: string;
  /** `isAsking`: a node of a cluster answers also for a slot that is moving to it. */
  readonly run: (
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    isAsking: boolean,
  ) => Promise<unknown>;
  readonly look: () => Promise<Look>;
  readonly ended: Promise<string>;
  readonly end: () => void;
};

export type Look = { readonly slots: unknown; readonly info: string };

export type ConnectionOptions = {
  readonly dial: Dial;
  /** Set for a node of a cluster, whose answers may name another node. */
  readonly node?: Endpoint;
  /** The time for an answer; making the connection has `connectMs`. */
  readonly budgetMs: number;
  readonly connectMs: number;
  /** Returns a key that may be written to find out whether this server accepts writes. */
  readonly probeKey: () => string;
  /** Explains a failure to connect whose own message does not. */
  readonly explain?: ((error: unknown) => string | undefined) | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

/** Rejects with the reason when no such connection can be made. `signal` ends it, made or in the making. */
export async function connect(
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const { dial, budgetMs, connectMs, clock } = options;
  const client = dial();
  const end = (): void => client.disconnect();
  let error: unknown;
  for (const event of ["error", "sentinelError"])
    client.on(event, (cause: unknown) => (error = cause));
  const ended = new Promise<string>((resolve) => {
    client.once("end", () => {
      signal.removeEventListener("abort", end);
      resolve(error ? reasonOf(error) : "the connection was closed");
    });
  });
  signal.addEventListener("abort", end);
  try {
    await within(clock, connectMs, client.connect(), noAnswer(connectMs));
    error = undefined;
    const serverId = await within(clock, budgetMs, prove(client, options), noAnswer(budgetMs));
    return {
      serverId,
      run: (asked, keys, args, isAsking) => run(client, asked, keys, args, isAsking),
      look: () => look(client),
      ended,
      end,
    };
  } catch (cause) {
    end();
    throw error ?? cause;
  }
}

/** Asks a node without keeping a connection to it. */
export async function lookOnce(
  { dial, budgetMs, connectMs, clock }: ConnectionOptions,
  signal: AbortSignal,
): Promise<Look> {
  const client = dial();
  const end = (): void => client.disconnect();
  client.on("error", () => undefined);
  signal.addEventListener("abort", end);
  try {
    await within(clock, connectMs, client.connect(), noAnswer(connectMs));
    return await within(clock, budgetMs, look(client), noAnswer(budgetMs));
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

async function look(client: Redis): Promise<Look> {
  const [slots, info] = await Promise.all([client.cluster("SLOTS"), client.cluster("INFO")]);
  return { slots, info };
}

/** Returns the raw answer: each script has a form of its own. */
async function run(
  client: Redis,
  { lua, sha1 }: Script,
  keys: readonly string[],
  args: readonly string[],
  isAsking: boolean,
): Promise<unknown> {
  try {
    if (isAsking) void client.asking().catch(() => undefined);
    return await client.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    // After its first start, or a SCRIPT FLUSH, the server needs the script's text again.
    if (!reasonOf(error).startsWith("NOSCRIPT")) throw error;
    if (isAsking) void client.asking().catch(() => undefined);
    return client.eval(lua, keys.length, ...keys, ...args);
  }
}

/** Throws for a server that cannot do the work: loading, read-only, out of memory, forbidden. Returns the server's id. */
async function prove(client: Redis, options: ConnectionOptions): Promise<string> {
  const { log } = options;
  const [policy, info] = await Promise.all([
    evictionPolicy(client),
    client.info("server"),
    write(client, options),
  ]);
  if (policy === undefined) {
    log.warn("tokens.eviction-unknown", {
      reason: "this Redis does not tell its maxmemory-policy; make sure that it is noeviction",
    });
  } else if (policy !== "noeviction") {
    throw new Error(`the maxmemory-policy is ${policy} and must be noeviction`);
  }
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
}

async function write(client: Redis, { node, probeKey }: ConnectionOptions): Promise<void> {
  try {
    // The slot of the key may be moving to this node.
    if (node) void client.asking().catch(() => undefined);
    await client.eval("return redis.call('SET', KEYS[1], '', 'PX', 1000)", 1, probeKey());
  } catch (cause) {
    if (node || !reasonOf(cause).startsWith("MOVED")) throw cause;
    throw new Error("this server is a node of a Redis Cluster, and was named as a single server", {
      cause,
    });
  }
}

/** Returns undefined if asking is forbidden, as with some hosted Redis services. */
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
