/**
 * Stalls: now and then a write, or all writes of a process from then on, wait on their way into the documents, until
 * others have written the same document. So a process writes by values that it has read a while ago, which is what
 * the fences of the adapter are for, and which writes that take milliseconds hardly ever do.
 *
 * (1) a stall ends with a drawn number of writes of others, or after a drawn time.
 */
import { type Dice } from "@posthaste/testing";
import { type Change, type Next } from "../mongodb/server.ts";
import { calm } from "../world/chaos.ts";
import { type Environment } from "../world/node.ts";
import { nodeOf } from "../world/observed.ts";

/** Where writes stall in a history, and how often. Some histories have no stalls. */
type Mood = { readonly collections: readonly string[]; readonly perWrite: number };
const moods: readonly [Mood, ...Mood[]] = [
  { collections: [], perWrite: 0 },
  { collections: ["messages"], perWrite: 0.02 },
  { collections: ["queues", "lanes"], perWrite: 0.2 },
  { collections: ["schedules", "runs"], perWrite: 0.1 },
];
/** The longest exceeds a lease and the time until another process has taken it over, and the alarm that a record has in line. */
const msMax = [3_000, 70_000] as const;
const others = [1, 2, 4, Infinity] as const;
const ofAllWrites = 0.5;

type Stall = {
  readonly by: string;
  readonly at: Next;
  /** Whether all writes of the process wait. */
  readonly isOfAll: boolean;
  readonly over: Promise<void>;
  readonly end: () => void;
  others: number;
};

export class Stalls {
  readonly #environment: Environment;
  readonly #chance: Dice;
  readonly #mood: Mood;
  readonly #stalls = new Set<Stall>();

  constructor(environment: Environment, chance: Dice) {
    this.#environment = environment;
    this.#chance = chance;
    this.#mood = chance.pick(moods);
  }

  /** Resolves when the client's write may continue with `next`. */
  async passed(by: string, next: Next): Promise<void> {
    const ofAll = [...this.#stalls].find((each) => each.by === by && each.isOfAll);
    const stall = ofAll ?? (this.#begins(next) ? this.#stalled(by, next) : undefined);
    await stall?.over;
  }

  changed({ by, collection, id }: Change): void {
    for (const stall of this.#stalls) {
      const { at } = stall;
      if (stall.by === by || at.collection !== collection || at.id !== id) continue;
      stall.others -= 1;
      if (stall.others === 0) stall.end();
    }
  }

  #begins({ collection }: Next): boolean {
    const { collections, perWrite } = this.#mood;
    if (!collections.includes(collection) || this.#environment.troubles() === calm) return false;
    return this.#chance.chance(perWrite);
  }

  #stalled(by: string, at: Next): Stall {
    const { world, history } = this.#environment;
    const ms = this.#chance.integer(100, this.#chance.pick(msMax));
    const fault = history.fault("slow", nodeOf(by), world.now, world.now + ms);
    world.trace(`${by} stalls before ${at.collection} ${String(at.id)}`);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      cancel();
      this.#stalls.delete(stall);
      fault.to = world.now;
      world.trace(`${by} stalls no more before ${at.collection} ${String(at.id)}`);
      resolve();
    };
    const cancel = world.after(ms, end);
    const isOfAll = this.#chance.chance(ofAllWrites);
    const stall = { by, at, isOfAll, over, end, others: this.#chance.pick(others) };
    this.#stalls.add(stall);
    history.count("stalls");
    return stall;
  }
}
