import { type RunningService, type ServiceName } from "@posthaste/local";
import { type Scenario } from "../stage.ts";
import { beginBulkAction } from "./bulk-actions.ts";

const heldAtOnce = 12;
const killsAtRandom = 2;

const quiet: readonly ServiceName[] = ["callback-dispatcher", "workflow-log", "management"];

export const kills: Scenario = {
  name: "kills",
  promise:
    "each service killed, a deliverer in the middle of its calls, and then some at random; gateway and schedulers at once in the middle of a bulk action: it ends, and its count is exact to a step for each",
  run: async (stage) => {
    const { services } = stage.cluster;
    // Sessions on the bus, and the lease of the bulk action, run out side by side.
    const killAll = (those: readonly RunningService[]) =>
      Promise.all(those.map((service) => stage.kill(service)));
    const workers = [...services.of("gateway"), ...services.of("scheduler")];
    const untilBulkActionEnds = await beginBulkAction(stage);
    await killAll(workers);
    await killAll(quiet.flatMap((service) => services.of(service)));
    await stage.heldAtGate(heldAtOnce);
    for (const deliverer of services.of("deliverer")) {
      await stage.kill(deliverer);
      stage.destination.openGate();
    }
    let kills = workers.length;
    for (let i = 0; i < killsAtRandom; i++) {
      const service = services.all[Math.floor(stage.chance() * services.all.length)];
      if (service === undefined) continue;
      await stage.kill(service);
      if (workers.includes(service)) kills += 1;
    }
    await untilBulkActionEnds(kills);
  },
};
