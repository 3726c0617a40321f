/** What a scenario may do and wait for. */
import { type RunningService, type ServiceName } from "@posthaste/local";
import { type Ack, type Fault, type Journal, type Leave, now } from "./history/journal.ts";
import { type Kind, planOf } from "./history/kinds.ts";
import { type Cluster } from "./world/cluster.ts";
import { type Destination } from "./world/destination.ts";
import { type Load } from "./world/load.ts";
import { until } from "./world/until.ts";

export type Scenario = {
  readonly name: string;
  /** What is broken, and what holds nevertheless: the name of its test. */
  readonly promise: string;
  /** Ends when everything is whole again. */
  readonly run: (stage: Stage) => Promise<void>;
};

export type StageParts = {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly destination: Destination;
  readonly journal: Journal;
  /** 0 … 1, from the seed of the run. */
  readonly chance: () => number;
};

type Acts = {
  readonly begin: () => unknown;
  readonly meanwhile: () => Promise<unknown>;
  /** Is done also when `meanwhile` has failed. */
  readonly heal: () => unknown;
};

/** What the death of one may cause: callers of the rest do not notice. */
const leavesOfKill: Readonly<Record<ServiceName, readonly Leave[]>> = {
  // And 503 while the new one starts.
  gateway: ["break", "refuse"],
  deliverer: ["repeat"],
  scheduler: [],
  "callback-dispatcher": [],
  "workflow-log": [],
  management: [],
};

export class Stage {
  readonly cluster: Cluster;
  readonly load: Load;
  readonly destination: Destination;
  readonly chance: () => number;
  readonly #journal: Journal;

  constructor({ cluster, load, destination, journal, chance }: StageParts) {
    this.cluster = cluster;
    this.load = load;
    this.destination = destination;
    this.chance = chance;
    this.#journal = journal;
  }

  /** Does it, and writes down when it was. */
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

  /** `kill -9`, and a new one on the same port after a while of publishes. */
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

  /** Stopped in good order and started again, as a rolling update does it. Its running calls may end meanwhile. */
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

  /** Messages that wait at the destination for its gate, so that the deliverer of them can be broken in the middle of it. */
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

  /** Resolves when `count` messages that are published from now on have arrived: in lanes, or not in any. */
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

  /** Resolves when each of them has arrived, or all together `times` times. */
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
