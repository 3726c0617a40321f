/** The stage of a scenario: all that it may do and wait for. */
import { type RunningService, type ServiceName } from "@posthaste/local";
import { type Ack, type Fault, type Journal, type Leave, now } from "./history/journal.ts";
import { type Kind, planOf } from "./history/kinds.ts";
import { type Cluster, type LoneCluster } from "./world/cluster.ts";
import { type Destination } from "./world/destination.ts";
import { type Load } from "./world/load.ts";
import { until } from "./world/until.ts";

export type Scenario<Of extends Cluster = LoneCluster> = {
  readonly name: string;
  /** The name of the scenario's test: what is broken, and which promise still holds. */
  readonly promise: string;
  /** Resolves when everything is whole again. */
  readonly run: (stage: Stage<Of>) => Promise<void>;
};

export type StageParts<Of extends Cluster> = {
  readonly cluster: Of;
  readonly load: Load;
  readonly destination: Destination;
  readonly journal: Journal;
  /** Returns a number from 0 to 1, from the seed of the run. */
  readonly chance: () => number;
};

type Acts = {
  readonly begin: () => unknown;
  readonly meanwhile: () => Promise<unknown>;
  /** Called even when `meanwhile` has failed. */
  readonly heal: () => unknown;
};

/** The effects that the kill of each service may have. For services without any, callers do not notice. */
export const leavesOfKill: Readonly<Record<ServiceName, readonly Leave[]>> = {
  // 503 while the new one starts.
  gateway: ["break", "refuse"],
  deliverer: ["repeat"],
  scheduler: [],
  "callback-dispatcher": [],
  "workflow-log": [],
  management: [],
};

export class Stage<Of extends Cluster = LoneCluster> {
  readonly cluster: Of;
  readonly load: Load;
  readonly destination: Destination;
  readonly chance: () => number;
  readonly #journal: Journal;

  constructor({ cluster, load, destination, journal, chance }: StageParts<Of>) {
    this.cluster = cluster;
    this.load = load;
    this.destination = destination;
    this.chance = chance;
    this.#journal = journal;
  }

  /** Carries out a fault, and records its times. */
  async during(
    fault: Pick<Fault, "what" | "leaves" | "stopsLanes">,
    { begin, meanwhile, heal }: Acts,
  ): Promise<void> {
    const at = now();
    let healedAt = at;
    try {
      await begin();
      await meanwhile();
    } finally {
      healedAt = now();
      await heal();
      await this.cluster.untilWell();
      this.#journal.faults.push({ ...fault, at, until: healedAt, over: now() });
    }
  }

  /** Kills the process with `kill -9`, and starts a new one on the same port after a while of publishes. */
  async kill({ name, service, process }: RunningService): Promise<void> {
    await this.during(
      { what: `${name} killed`, leaves: leavesOfKill[service] },
      {
        begin: () => process.kill(),
        meanwhile: () => this.tried(whileDead),
        heal: () => process.restart(),
      },
    );
  }

  /** Stops the process in good order and starts it again, as a rolling update does. Its running calls may end meanwhile. */
  async restart({ name, service, process }: RunningService): Promise<void> {
    await this.during(
      { what: `${name} restarted`, leaves: service === "gateway" ? ["break", "refuse"] : [] },
      {
        begin: () => this.heldAtGate(heldAtRestart),
        meanwhile: async () => {
          const restarted = process.restart();
          await this.tried(whileDead);
          this.destination.openGate();
          await restarted;
        },
        heal: () => this.destination.openGate(),
      },
    );
  }

  /** Publishes messages that wait at the destination for its gate, so that their deliverer can be broken in the middle of its calls. */
  async heldAtGate(count: number): Promise<readonly Ack[]> {
    this.destination.closeGate();
    const acks = await this.load.burst("gated", count);
    await until(`${count} wait at the gate`, () => this.destination.held >= count);
    return acks;
  }

  /** Resolves when `count` more publishes have been answered or broken off. */
  async tried(count: number): Promise<void> {
    const enough = this.load.ended + count;
    await until(`${count} more publishes have ended`, () => this.load.ended >= enough);
  }

  /** Resolves when `count` more publishes were acknowledged; of these kinds, if any are named. */
  async acknowledged(count: number, ...kinds: readonly Kind[]): Promise<void> {
    const isWanted = ({ kind }: { readonly kind: Kind }): boolean =>
      kinds.length === 0 || kinds.includes(kind);
    const from = this.#journal.acks.length;
    const found = (): number => this.#journal.acks.slice(from).filter(isWanted).length;
    await until(`${count} more ${kinds.join()} are acknowledged`, () => found() >= count);
  }

  /** Resolves when `count` more publishes were answered 503; of these kinds, if any are named. */
  async refused(count: number, ...kinds: readonly Kind[]): Promise<void> {
    const from = this.#journal.refusals.length;
    const found = (): number =>
      this.#journal.refusals
        .slice(from)
        .filter(
          ({ status, kind }) => status === 503 && (kinds.length === 0 || kinds.includes(kind)),
        ).length;
    await until(`${count} more ${kinds.join()} are refused`, () => found() >= count);
  }

  /** Resolves when `count` messages published from now on have arrived, in lanes or in no lane. */
  async delivered(count: number, where: "in lanes" | "in no lane"): Promise<void> {
    const since = now();
    const isWanted = ({ sentAt, kind, n }: Ack): boolean =>
      sentAt >= since && (planOf(kind, n, "").lane !== undefined) === (where === "in lanes");
    await until(`${count} messages ${where} are delivered`, () => {
      const wanted = new Set(this.#journal.acks.filter(isWanted).map(({ id }) => id));
      const arrived = this.#journal.arrivals.filter(({ id }) => wanted.has(id));
      return new Set(arrived.map(({ id }) => id)).size >= count;
    });
  }

  /** Resolves when each of the messages has arrived, and all together `times` times. */
  async arrived(acks: readonly Ack[], times = acks.length): Promise<void> {
    const ids = new Set(acks.map(({ id }) => id));
    await until(`${ids.size} messages have arrived ${times} times in all`, () => {
      const own = this.#journal.arrivals.filter(({ id }) => ids.has(id));
      return own.length >= times && new Set(own.map(({ id }) => id)).size === ids.size;
    });
  }
}

const whileDead = 5;
const heldAtRestart = 6;
