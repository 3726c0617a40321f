import { setTimeout as sleep } from "node:timers/promises";
import { type RunningService } from "@posthaste/local";
import { type Leave } from "../history/journal.ts";
import { type Scenario, type Stage } from "../stage.ts";
import { type Proxies } from "../world/cluster.ts";

/** Long enough for a service of a busy cluster to write something. */
const swallowMs = 500;
const between = 5;

/** The write happens, and the service gets no answer: the connection breaks instead. */
export const lostReplies: Scenario = {
  name: "lost-replies",
  promise: "the answers of store and Redis lost on their way to one service after the other",
  run: async (stage) => {
    for (const service of stage.cluster.services.all) {
      if (service.service === "workflow-log" || service.service === "management") continue;
      await lose(stage, service, "mongodb", service.service === "gateway" ? ["refuse"] : []);
      if (service.service === "callback-dispatcher") continue;
      const leaves: Leave[] = service.service === "gateway" ? ["refuse deduplicated"] : [];
      await lose(stage, service, "redis", leaves);
    }
  },
};

async function lose(
  stage: Stage,
  service: RunningService,
  store: keyof Proxies,
  leaves: readonly Leave[],
): Promise<void> {
  const proxy = stage.cluster.proxiesOf(service)[store];
  await stage.during(
    { what: `answers of ${store} to ${service.name} lost`, leaves },
    {
      begin: () => proxy.swallowReplies(true),
      meanwhile: () => sleep(swallowMs),
      heal: () => {
        // A driver would not understand half an answer, so the connections are cut before replies pass again.
        proxy.cut();
        proxy.swallowReplies(false);
      },
    },
  );
  await stage.tried(between);
}
