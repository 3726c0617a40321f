/**
 * Stands by for the schedulers in each deliverer (docs/design/outages#ownership-only-saves-work): while the process
 * hears nothing from the bus, it rings due messages of all shards once a second, with the same conditional writes.
 * While the bus is up, it checks every ten seconds that some scheduler runs.
 */
import { type AlarmSource, allShards, cutOff } from "@posthaste/domain";
import { type EventBus, type Hint, type WakeEvent } from "@posthaste/ports";
import { followUpSome } from "../follow-up/follow-up.ts";
import { BackgroundWork } from "./background.ts";
import { serveLane } from "../lanes/turns.ts";
import { ringOnce, type RingPorts, sourcesToRing } from "./ring.ts";

const everyMs = 1_000;
/** While the bus is up, alarms are checked this often, and rung here when they are later than `lateMs`. */
const lookEveryMs = 10_000;
const lateMs = 5_000;
const ringMax = 500;
/** The rounds in one second; the next second continues. */
const roundsMax = 4;

export class Standby {
  readonly name = "standby";
  readonly #ports: RingPorts;
  readonly #background: BackgroundWork;
  #timer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  #lookedAt = 0;
  #stopped = false;

  /** `hear` hands hints to the deliverer of this process, without the bus. */
  constructor(ports: RingPorts, hear: (hints: readonly Hint[]) => void) {
    this.#background = new BackgroundWork({
      log: ports.log,
      clock: ports.clock,
      serve: async (lane) => void (await serveLane(this.#ports, lane)),
      followUpSome: (tenant, ids) => followUpSome(this.#ports, tenant, ids),
    });
    this.#ports = {
      ...ports,
      bus: heardHere(ports.bus, {
        hear,
        wake: (events) => {
          for (const event of events) if ("lane" in event) this.#background.serve(event.lane);
        },
      }),
    };
  }

  async start(): Promise<void> {
    this.#lookedAt = this.#ports.clock.passedMs();
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.();
    await this.#round;
    await this.#background.stop();
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#timer = this.#ports.clock.after(everyMs, () => {
      this.#round = this.#look()
        .catch((error: unknown) => this.#ports.log.warn("standby.failed", { error }))
        .finally(() => this.#arm());
    });
  }

  async #look(): Promise<void> {
    if (!this.#background.hasRoom || !(await this.#isWanted())) return;
    for (let round = 0; round < roundsMax; round++) {
      const { more } = await ringOnce(
        this.#ports,
        this.#background,
        allShards,
        ringMax,
        this.#sources(),
      );
      if (more.size === 0) return;
    }
  }

  /** Facts keep their alarms while the bus is away. */
  #sources(): readonly AlarmSource[] {
    const sources = sourcesToRing(this.#background);
    return this.#ports.bus.isUp() ? sources : sources.filter((source) => source !== "fact");
  }

  async #isWanted(): Promise<boolean> {
    const { bus, clock, alarms } = this.#ports;
    if (!bus.isUp() || !bus.hears("message.due")) return true;
    const passedMs = clock.passedMs();
    if (passedMs - this.#lookedAt < lookEveryMs) return false;
    this.#lookedAt = passedMs;
    const next = await alarms.next(allShards);
    return next !== undefined && next < cutOff(lateMs, clock.now());
  }
}

type Here = {
  readonly hear: (hints: readonly Hint[]) => void;
  readonly wake: (events: readonly WakeEvent[]) => void;
};

/** Returns a bus that keeps hints and wakes in this process. A fact needs the real bus, and stays in its outbox while the bus is away. */
function heardHere(bus: EventBus, { hear, wake }: Here): EventBus {
  return {
    publish: async (topic, events) => {
      // The compiler cannot tell by a generic topic which kind of events it has.
      if (topic === "message.due") hear(events as readonly Hint[]);
      else if (topic === "scheduler.wake") wake(events as readonly WakeEvent[]);
      else if (topic === "message.accepted" || bus.isUp()) await bus.publish(topic, events);
      else throw new Error("the bus is away");
    },
    subscribe: (...given) => bus.subscribe(...given),
    isUp: () => bus.isUp(),
    freeRecordBytes: () => bus.freeRecordBytes(),
    hears: (topic) => bus.hears(topic),
  };
}
