import { type ServiceName } from "@posthaste/local";
import { type Scenario } from "../stage.ts";

const heldAtOnce = 12;
const killsAtRandom = 4;

const quiet: readonly ServiceName[] = ["callback-dispatcher", "workflow-log", "management"];

export const kills: Scenario = {
  name: "kills",
  promise: "each service killed, a deliverer in the middle of its calls, and then some at random",
  run: async (stage) => {
    const { services } = stage.cluster;
    await stage.heldAtGate(heldAtOnce);
    for (const deliverer of services.of("deliverer")) {
      await stage.kill(deliverer);
      stage.destination.openGate();
    }
    // These services have groups of their own on the bus, and excuse nothing: the sessions of the killed run out side by side.
    const [first, ...others] = services.of("scheduler");
    const atOnce = services.all.filter((one) => one === first || quiet.includes(one.service));
    await Promise.all(atOnce.map((service) => stage.kill(service)));
    for (const service of [...others, services.gateway]) await stage.kill(service);
    for (let i = 0; i < killsAtRandom; i++) {
      const service = services.all[Math.floor(stage.chance() * services.all.length)];
      if (service) await stage.kill(service);
    }
  },
};
