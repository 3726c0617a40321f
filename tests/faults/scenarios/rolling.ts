import { type Scenario } from "../stage.ts";

export const rolling: Scenario = {
  name: "rolling",
  promise:
    "each process stopped in good order and started again, one after the other, in the middle of calls: nothing is repeated, and only the gateway's callers notice",
  run: async (stage) => {
    for (const service of stage.cluster.services.all) await stage.restart(service);
  },
};
