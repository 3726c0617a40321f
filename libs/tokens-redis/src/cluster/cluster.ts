/**
 * The connection to a Redis Cluster. Owns a link to each node that has slots, and the map of slots to nodes.
 *
 * (1) questions asked together are all of one slot, and are sent to the node that owns it.
 * (2) a node that names another one is believed, `hopsMax` times for a question; each hop has the whole budget.
 * (3) the map is read at the start, and while it is in doubt: a node has named another one, or is away. No node is
 *     asked for it while all is well.
 * (4) the link to a node that owns no slot any more is closed after `budgetMs`, when its last questions have had
 *     their time.
 */
import assert from "node:assert/strict";
import { pause, StoreError, within } from "@posthaste/ports";
import { type Question } from "../gather.ts";
import { type Look, lookOnce, noAnswer, type Script } from "../link/connection.ts";
import { dialNode, type Endpoint, type RedisPlace, seedsOf } from "../link/dial.ts";
import { atStart, closed, pauseMs } from "../link/health.ts";
import { type Counts, Link, type LinkOptions, noCounts, Redirected } from "../link/link.ts";
import { reasonOf } from "../link/reason.ts";
import { keyIn, slotOf } from "./hash-slot.ts";
import { endpointOf, nothingKnown, type Redirection, slotMapIn, type SlotMap } from "./slot-map.ts";

export type ClusterOptions = Pick<
  LinkOptions,
  "budgetMs" | "connectMs" | "explain" | "clock" | "log"
> & {
  readonly place: RedisPlace;
  /** The beginning of the keys that are written to find out whether nodes accept writes. */
  readonly probeStart: string;
};

/** From the node asked first to the owner, or to the node that a slot is moving to. */
const hopsMax = 2;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #closing = new AbortController();
  readonly #counts = noCounts();
  readonly #links = new Map<string, Link>();
  readonly #leaving = new Set<() => Promise<void>>();
  readonly #learning: Promise<void>;
  #map = nothingKnown;
  #problem = atStart.reason;
  #isDoubted = false;
  #doubt = Promise.withResolvers<void>();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#learning = this.#keepLearning();
  }

  get counts(): Counts {
    return { ...this.#counts };
  }

  get problem(): string | undefined {
    if (this.#closing.signal.aborted) return closed.reason;
    if (this.#map === nothingKnown) return this.#problem;
    for (const [address, { problem }] of this.#links)
      if (problem !== undefined) return `${address}: ${problem}`;
    const { missing } = this.#map;
    return missing > 0 ? `${missing} slots of the cluster have no node` : undefined;
  }

  /** Is like `Link.ask`, for questions whose keys are all in one slot. */
  async ask(script: Script, questions: readonly Question[]): Promise<readonly unknown[]> {
    const slot = slotOf(questions[0]?.keys[0] ?? "");
    const owner = this.#map.owners[slot];
    const link = owner === undefined ? undefined : this.#links.get(owner);
    if (link !== undefined) return this.#follow(link, script, questions);
    this.#counts.refused++;
    const why = this.#map === nothingKnown ? this.problem : `no node has slot ${slot}`;
    throw new StoreError("unavailable", `Redis is away: ${why}`);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#doubt.resolve();
    await this.#learning;
    const leaving = [...this.#leaving].map((end) => end());
    await Promise.all([...leaving, ...[...this.#links.values()].map((link) => link.close())]);
  }

  async #follow(
    link: Link,
    script: Script,
    questions: readonly Question[],
    isAsking = false,
    hops = 0,
  ): Promise<readonly unknown[]> {
    try {
      return await link.ask(script, questions, isAsking);
    } catch (cause) {
      if (!(cause instanceof Redirected)) throw cause;
      const { redirection } = cause;
      if (redirection.kind !== "ask") this.#raiseDoubt();
      if (redirection.kind === "split" && questions.length > 1)
        return this.#askApart(link, script, questions, isAsking, hops);
      if (redirection.kind === "split" || hops === hopsMax) {
        this.#counts.failed++;
        throw new StoreError("unavailable", `Redis failed: ${cause.message}`, { cause });
      }
      const next = await this.#linkFor(redirection);
      return this.#follow(next, script, questions, redirection.kind === "ask", hops + 1);
    }
  }

  async #askApart(
    link: Link,
    script: Script,
    questions: readonly Question[],
    isAsking: boolean,
    hops: number,
  ): Promise<readonly unknown[]> {
    const answers = await Promise.all(
      questions.map((question) => this.#follow(link, script, [question], isAsking, hops)),
    );
    return answers.flat();
  }

  /** Returns the link to the node, which may be new and not in the map: waits for its first connection as long as for an answer. */
  async #linkFor({ to, slot }: Exclude<Redirection, { kind: "split" }>): Promise<Link> {
    const { clock, budgetMs } = this.#options;
    const link = this.#links.get(to) ?? this.#open(to, slot);
    await within(clock, budgetMs, link.tried, noAnswer(budgetMs)).catch((cause: unknown) => {
      throw new StoreError("unavailable", `Redis failed: ${reasonOf(cause)}`, { cause });
    });
    return link;
  }

  /** `slot`: the slot for which the node was named, until the map has it. */
  #open(address: string, slot?: number): Link {
    const { place, probeStart, ...options } = this.#options;
    const node = endpointOf(address);
    const link = new Link({
      ...options,
      dial: () => dialNode(place, node),
      node,
      probeKey: () => {
        const { owners } = this.#map;
        const isKnown = owners.includes(address);
        return keyIn(probeStart, (at) => (isKnown ? owners[at] === address : at === slot));
      },
      counts: this.#counts,
      changed: () => this.#raiseDoubt(),
    });
    this.#links.set(address, link);
    return link;
  }

  #raiseDoubt(): void {
    this.#isDoubted = true;
    this.#doubt.resolve();
  }

  async #keepLearning(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    let tries = 0;
    while (!signal.aborted) {
      this.#isDoubted = false;
      this.#doubt = Promise.withResolvers();
      try {
        await this.#learn();
      } catch (error) {
        const reason = this.#options.explain?.(error) ?? reasonOf(error);
        if (this.#map === nothingKnown && this.#problem !== reason && !signal.aborted)
          log.warn("tokens.down", { reason });
        this.#problem = reason;
      }
      tries = this.problem === undefined ? 1 : tries + 1;
      await pause(clock, pauseMs({ ...atStart, tries }), signal);
      if (this.problem === undefined && !this.#isDoubted) await this.#doubt.promise;
    }
  }

  /** Reads the map. Uses the latest of those that the nodes report. */
  async #learn(): Promise<void> {
    const up = [...this.#links].filter(([, { problem }]) => problem === undefined);
    const looks = await Promise.allSettled(
      up.map(async ([address, link]) => slotMapOf(await link.look(), endpointOf(address))),
    );
    const maps = looks.flatMap((look) => (look.status === "fulfilled" ? [look.value] : []));
    if (maps.length === 0) maps.push(await this.#learnFromSeeds());
    this.#use(maps.reduce((latest, map) => (map.epoch > latest.epoch ? map : latest)));
  }

  async #learnFromSeeds(): Promise<SlotMap> {
    const { place, probeStart: _, ...options } = this.#options;
    const known = [...this.#links.keys()].map(endpointOf);
    const asked = [...known, ...seedsOf(place)].map(async (seed) => {
      const dial = () => dialNode(place, seed);
      const lookOptions = { ...options, dial, probeKey: () => "" };
      return slotMapOf(await lookOnce(lookOptions, this.#closing.signal), seed);
    });
    return Promise.any(asked).catch(async () => {
      // All have failed; the first rejection says why.
      const [first] = asked;
      assert(first !== undefined, "a cluster has an address");
      return first;
    });
  }

  #use(map: SlotMap): void {
    if (this.#closing.signal.aborted) return;
    const [before, owners] = [ownersIn(this.#map), ownersIn(map)];
    this.#map = map;
    for (const owner of owners) if (!this.#links.has(owner)) this.#open(owner);
    for (const [address, link] of this.#links) {
      if (owners.has(address)) continue;
      // A node that a slot is moving to owns none yet.
      if (before.has(address) || link.problem !== undefined) this.#leave(address, link);
    }
  }

  #leave(address: string, link: Link): void {
    const { clock, budgetMs } = this.#options;
    this.#links.delete(address);
    const end = async (): Promise<void> => {
      callOff();
      this.#leaving.delete(end);
      await link.close();
    };
    const callOff = clock.after(budgetMs, () => void end());
    this.#leaving.add(end);
  }
}

const slotMapOf = ({ slots, info }: Look, asked: Endpoint): SlotMap =>
  slotMapIn(slots, info, asked);

const ownersIn = ({ owners }: SlotMap): ReadonlySet<string> =>
  new Set(owners.filter((owner) => owner !== undefined));
