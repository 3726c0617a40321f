import { type Scenario } from "../stage.ts";

export const rolling: Scenario = {
  name: "rolling",
  promise:
    "each process stopped in good order and started again, one after the other, in the middle of calls: nothing is repeated, and only the gateway's callers notice",
  run: async (stage) => {
    const { services } = stage.cluster;
    const deliverers = services.of("deliverer");
    // Deliverers first: an outcome that one has lost is repeated after its lease, before a later kill of one would excuse that.
    const others = services.all.filter((service) => !deliverers.includes(service));
    for (const service of [...deliverers, ...others]) await stage.restart(service);
  },
};
