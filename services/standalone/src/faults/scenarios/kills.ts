import { type Scenario } from "../stage.ts";

const heldAtOnce = 12;
const killsAtRandom = 4;

export const kills: Scenario = {
  name: "kills",
  promise:
    "each service killed in turn, a deliverer in the middle of its calls, and then some at random",
  run: async (stage) => {
    const { services } = stage.cluster;
    await stage.heldAtGate(heldAtOnce);
    for (const deliverer of services.of("deliverer")) {
      await stage.kill(deliverer);
      stage.destination.openGate();
    }
    for (const service of services.all)
      if (service.service !== "deliverer") await stage.kill(service);
    for (let i = 0; i < killsAtRandom; i++) {
      const service = services.all[Math.floor(stage.chance() * services.all.length)];
      if (service) await stage.kill(service);
    }
  },
};
