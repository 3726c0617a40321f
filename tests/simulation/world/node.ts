/**
 * A process that can die and stop. All its input passes through its present life: timers, answers of ports, events of
 * the bus. When the life has ended, no input arrives any more; while it is paused, all input waits.
 */
import { limits } from "@posthaste/domain";
import { type Clock, watchSetting } from "@posthaste/ports";
import { type Dice } from "@posthaste/testing";
import { planCall, type Troubles } from "./chaos.ts";
import { type FaultRecord, type History } from "./history.ts";
import { type World } from "./world.ts";

export type Environment = {
  readonly world: World;
  readonly history: History;
  /** Calm when the time of troubles is over. */
  readonly troubles: () => Troubles;
};

/**
 * `calls`: the number of calls of this wire that make up one call of a port. `failure`: the error of a call whose
 * request or answer is lost.
 */
export type Wire = { readonly calls: number; readonly failure: (operation: string) => Error };
const wireOfPorts: Wire = {
  calls: 1,
  failure: (operation) => new Error(`${operation}: unavailable`),
};

export type Runnable = { readonly start: () => Promise<void>; readonly stop: () => Promise<void> };

const clockAfterMsMax = 3_600_000;
const restartMsMax = 15_000;
const gatherMs = 4;
/** A stop that drains for longer is ended by force. */
const stopMsMax = 60_000;

/** `onDeath` is given if the process holds its store, which has to be opened anew. */
export class SimulatedNode {
  readonly name: string;
  readonly holdsItsStore: boolean;
  readonly #environment: Environment;
  readonly #chance: Dice;
  readonly #compose: (life: Life) => Runnable;
  readonly #onDeath: () => void;
  #life: Life | undefined;
  #runnable: Runnable | undefined;
  #lives = 0;
  #leaving = false;
  #downUntil = 0;
  /** How wrong its clock is. */
  skewMs = 0;

  constructor(
    environment: Environment,
    name: string,
    compose: (life: Life) => Runnable,
    onDeath?: () => void,
  ) {
    this.name = name;
    this.holdsItsStore = onDeath !== undefined;
    this.#environment = environment;
    this.#chance = environment.world.chanceOf();
    this.#compose = compose;
    this.#onDeath = onDeath ?? (() => undefined);
  }

  get life(): Life | undefined {
    return this.#life;
  }

  /** Reports whether the process takes requests. */
  get isUp(): boolean {
    return this.#life !== undefined && !this.#leaving;
  }

  start(): void {
    const { world } = this.#environment;
    if (world.now < this.#downUntil) {
      world.after(this.#downUntil - world.now, () => this.start());
      return;
    }
    this.#lives += 1;
    const life = new Life(
      this.#environment,
      this,
      `${this.name}#${this.#lives}`,
      this.#chance.fork(),
    );
    this.#life = life;
    this.#leaving = false;
    world.trace(`${life.name} starts`);
    const runnable = this.#compose(life);
    this.#runnable = runnable;
    // A start that fails is tried again, as a supervisor of processes does.
    runnable.start().catch(() => this.crash("its start failed"));
  }

  crash(why: string): void {
    const life = this.#life;
    if (!life) return;
    const { world, history } = this.#environment;
    world.trace(`${life.name} dies: ${why}`);
    const downMs = this.#chance.integer(100, restartMsMax);
    history.fault("crash", this.name, world.now, world.now + downMs);
    this.#end(life);
    world.after(downMs, () => this.start());
  }

  /** Kills the process, if it runs, and keeps it down for `ms`. */
  goDown(ms: number): void {
    this.#downUntil = this.#environment.world.now + ms;
    this.crash("its machine is down");
  }

  pause(ms: number): void {
    const life = this.#life;
    if (!life || life.isPaused) return;
    const { world, history } = this.#environment;
    world.trace(`${life.name} stops for ${ms} ms`);
    history.fault("pause", this.name, world.now, world.now + ms);
    life.pause(ms);
  }

  /** Drains and starts anew, as on an upgrade. */
  restart(): void {
    const life = this.#life;
    const runnable = this.#runnable;
    if (!life || !runnable || this.#leaving) return;
    const { world, history } = this.#environment;
    world.trace(`${life.name} is asked to stop`);
    this.#leaving = true;
    const fault = history.fault("restart", this.name, world.now, world.now + stopMsMax);
    const leave = (): void => {
      if (this.#life !== life) return;
      fault.to = world.now + 1_000;
      world.trace(`${life.name} has stopped`);
      this.#end(life);
      world.after(this.#chance.integer(10, 1_000), () => this.start());
    };
    life.deliver(() => void runnable.stop().then(leave, leave));
    world.after(stopMsMax, leave);
  }

  #end(life: Life): void {
    life.end();
    this.#life = undefined;
    this.#runnable = undefined;
    this.skewMs = 0;
    this.#onDeath();
  }
}

export class Life {
  readonly name: string;
  readonly node: SimulatedNode;
  readonly #environment: Environment;
  readonly #chance: Dice;
  readonly #waiting: (() => void)[] = [];
  readonly #endings: (() => void)[] = [];
  #ended = false;
  #pausedUntil = 0;
  #timers = 0;
  readonly #gathers: boolean;
  readonly #setAheadMs: () => number;
  readonly #gathered = new Map<number, (() => void)[]>();

  constructor(environment: Environment, node: SimulatedNode, name: string, chance: Dice) {
    this.#environment = environment;
    this.node = node;
    this.name = name;
    this.#chance = chance;
    this.#gathers = chance.chance(0.5);
    this.#setAheadMs = watchSetting(
      () => this.#now,
      () => environment.world.elapsed,
    );
  }

  get #now(): number {
    return this.#environment.world.storeNow + this.node.skewMs;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > this.#environment.world.now;
  }

  /** Timers armed and not yet run. */
  get timers(): number {
    return this.#timers;
  }

  /** Runs `task` in this process: now, when it continues, or never. */
  deliver(task: () => void): void {
    if (this.#ended) return;
    if (this.isPaused || this.#waiting.length > 0) this.#waiting.push(task);
    else task();
  }

  pause(ms: number): void {
    this.#pausedUntil = this.#environment.world.now + ms;
    this.#environment.world.after(ms, () => this.#goOn());
  }

  end(): void {
    this.#ended = true;
    for (const ending of this.#endings) ending();
  }

  onEnd(ending: () => void): void {
    this.#endings.push(ending);
  }

  readonly clock: Clock = {
    now: () => this.#now,
    passedMs: () => this.#environment.world.elapsed,
    setAheadMs: () => this.#setAheadMs(),
    after: (ms, task) => {
      if (ms > clockAfterMsMax)
        this.#environment.history.violate("clock", `${this.name} arms a timer of ${ms} ms`);
      let armed = true;
      this.#timers += 1;
      const disarm = (): void => {
        if (armed) this.#timers -= 1;
        armed = false;
      };
      const cancel = this.#environment.world.after(ms, () =>
        this.deliver(() => {
          // Cancelled while the process was paused.
          if (!armed) return;
          disarm();
          task();
        }),
      );
      return () => {
        disarm();
        cancel();
      };
    },
  };

  /** Returns `port` as this process reaches it, over a wire on which anything may happen. */
  remote<P extends object>(name: string, port: P): P {
    return new Proxy<P>(port, {
      get: (target, property) => {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== "function") return method;
        const operation = `${name}.${String(property)}`;
        return (...args: unknown[]) =>
          this.call(operation, async (): Promise<unknown> => Reflect.apply(method, target, args));
      },
    });
  }

  /** Makes one call over the wire; a process that dies never gets the answer. */
  call<T>(
    operation: string,
    effect: () => Promise<T>,
    { calls, failure }: Wire = wireOfPorts,
  ): Promise<T> {
    const { world, history, troubles } = this.#environment;
    if (this.#ended) return new Promise(() => undefined);
    const plan = planCall(troubles(), this.#chance, this.node.name, calls);
    if (plan.dies === "before") {
      this.node.crash(`before ${operation}`);
      return new Promise(() => undefined);
    }
    const troublesome = plan.fails !== undefined || plan.requestMs + plan.answerMs > 10;
    const fault: FaultRecord | undefined = troublesome
      ? history.fault(
          plan.fails ? "failed" : "slow",
          this.node.name,
          world.now,
          world.now + plan.requestMs + plan.answerMs,
        )
      : undefined;
    if (fault)
      world.trace(
        `${this.name} ${operation} ${fault.kind} ${plan.fails ?? ""} ${Math.round(fault.to - fault.from)} ms`,
      );
    return new Promise((resolve, reject) => {
      const answer = (give: () => void): void => {
        if (plan.dies === "after") this.node.crash(`after ${operation}`);
        else this.#answerAfter(plan.answerMs, give);
      };
      const unavailable = (): void => reject(failure(operation));
      world.after(plan.requestMs, () => {
        // A store in the same process dies with it; over a wire the request arrives anyway.
        if (this.#ended && this.node.holdsItsStore) return;
        if (plan.fails === "before") return answer(unavailable);
        void effect().then(
          (value) => answer(plan.fails === "after" ? unavailable : () => resolve(value)),
          (error: unknown) =>
            answer(() => reject(Error.isError(error) ? error : new Error(String(error)))),
        );
      });
    });
  }

  /** If the process gathers, all answers up to the next tick are heard in one turn of its event loop. */
  #answerAfter(ms: number, give: () => void): void {
    const { world } = this.#environment;
    if (!this.#gathers) {
      world.after(ms, () => this.deliver(give));
      return;
    }
    const at = Math.ceil((world.now + ms) / gatherMs) * gatherMs;
    const gathered = this.#gathered.get(at);
    if (gathered) {
      gathered.push(give);
      return;
    }
    const answers = [give];
    this.#gathered.set(at, answers);
    world.after(at - world.now, () => {
      this.#gathered.delete(at);
      this.deliver(() => answers.forEach((each) => each()));
    });
  }

  #goOn(): void {
    if (this.#ended || this.isPaused) return;
    this.#environment.world.trace(`${this.name} goes on with ${this.#waiting.length} things to do`);
    const tasks = this.#waiting.splice(0);
    // Timers and answers that waited run one by one, as an event loop takes them.
    for (const task of tasks) this.#environment.world.after(0, () => !this.#ended && task());
  }
}

/** A worker may pause for up to two leases and then continue. */
export const pauseMsMax = 2 * limits.leaseMs;
