/** Clients of runs: they start runs, some under the name of another, send them events, and cancel a few. */
import { isFault, type RunId, runId } from "@posthaste/domain";
import { anotherTenant, aTenant, type Dice } from "@posthaste/testing";
import { answered, anyOf, type Ask, type Gateways, untilAnswered } from "../clients.ts";
import { type Again } from "../gateway.ts";
import { type Environment } from "../world/node.ts";
import { phaseOf, startOf } from "./commands.ts";
import { type Program } from "./program.ts";
import { drawProgram, events } from "./draw.ts";
import { type Cancelling } from "./seen.ts";

export type RunWorkload = {
  readonly lastAtMs: number;
  start(gateways: Gateways): void;
  /** Reports whether all clients have had their answers. */
  isSettled(): boolean;
};

const clientTimeoutMs = 10_000;
const childrenMax = 3;
/** How often a client checks that waits for its run to fail. */
const looksMax = 15;

export function runWorkload({ world, history }: Environment, chance: Dice): RunWorkload {
  const { runs } = history;
  const spanMs = chance.pick([5_000, 20_000, 60_000]);
  const tenant = chance.pick([aTenant, anotherTenant]);
  const count = chance.integer(3, 6);
  let open = count;

  // No client starts an invoked program, so that its result is known to one run alone.
  for (let index = 0; index < count + childrenMax; index++) {
    const children =
      index < childrenMax ? [...Array(index).keys()] : [...Array(childrenMax).keys()];
    runs.programs.push(drawProgram(chance, index, tenant, chance.chance(0.8) ? children : []));
  }

  const untilDone = <T>(gateways: Gateways, ask: Ask<T>): Promise<T> =>
    untilAnswered({ world, chance, gateways, timeoutMs: clientTimeoutMs }, ask);

  const tellOnce = async (gateways: Gateways, id: RunId, event: string): Promise<void> => {
    const gateway = anyOf(chance, gateways());
    if (!gateway) return;
    const telling = runs.tell(tenant, event, id);
    const body = new TextEncoder().encode(telling.body);
    const reply = await answered(
      world,
      clientTimeoutMs,
      gateway.notifyRun({ tenant, id }, event, body),
    );
    if (!reply) return;
    history.count("runs.told");
    telling.reply = reply;
  };

  const cancel = async (gateways: Gateways, id: RunId): Promise<void> => {
    const cancelling: Cancelling = { tenant, id, askedAt: world.now, answeredAt: undefined };
    runs.cancels.push(cancelling);
    await untilDone(gateways, (gateway) => gateway.cancelRun({ tenant, id }));
    cancelling.answeredAt = world.now;
    history.count("runs.cancels");
  };

  /** Runs it once more when it has failed. */
  const again = async ({ index }: Program, gateways: Gateways, id: RunId): Promise<void> => {
    const how: Again = chance.chance(0.3) ? "restart" : "resume";
    const next = runId(`again-${index}`);
    for (let looks = 0; looks < looksMax; looks++) {
      await world.wait(chance.integer(1_000, 20_000));
      const made = await untilDone(gateways, (gateway) => gateway.again(how, { tenant, id }, next));
      if (made === "active") continue;
      // A repeat finds that the run is active.
      if (!made || isFault(made)) return;
      runs.acks.push({ root: made.root, what: "start", step: 0 });
      history.count(`runs.again.${how}`);
      return;
    }
  };

  const operate = async (program: Program, id: RunId, gateways: Gateways): Promise<void> => {
    const delayed = chance.chance(0.15)
      ? { postponement: { kind: "delay", delayMs: chance.integer(100, 10_000) } as const }
      : {};
    const command = {
      ...startOf(program, id, phaseOf(program)),
      ...delayed,
    };
    const started = await untilDone(gateways, (gateway) => gateway.publish(command));
    if (!("messageId" in started)) throw new Error("a run that was not started");
    runs.acks.push({ root: started.messageId, what: "start", step: 0 });
    history.count("runs.started");
    for (let tellings = chance.integer(0, 4); tellings > 0; tellings--) {
      const event = chance.pick(events);
      world.after(chance.integer(0, 20_000), () => void tellOnce(gateways, id, event));
    }
    if (chance.chance(0.15)) {
      await world.wait(chance.integer(0, 20_000));
      await cancel(gateways, id);
    }
    if (chance.chance(0.6)) await again(program, gateways, id);
    open -= 1;
  };

  return {
    lastAtMs: spanMs,
    isSettled: () => open === 0,
    start: (gateways) => {
      for (const program of runs.programs.slice(childrenMax)) {
        // Now and then the id of another run, which may be active or may have ended.
        const id = runId(`run-${chance.chance(0.25) ? childrenMax : program.index}`);
        world.after(chance.integer(0, spanMs), () => void operate(program, id, gateways));
      }
    },
  };
}
