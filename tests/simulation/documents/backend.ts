/** The adapter of MongoDB, over a server in memory, behind the six services. */
import { type Dice, turn } from "@posthaste/testing";
import { type Backend, statesIn } from "../backend.ts";
import { everyWrite } from "../checks/every-write.ts";
import { modelTokenStore } from "../model/token-store.ts";
import { type Instead } from "../mongodb/server.ts";
import { type Environment } from "../world/node.ts";
import { calmPorts, portsThrough, serverIn } from "./ports.ts";
import { documentsSeen } from "./seen.ts";

/** `instead`: a bug that is planted in the writes of the adapter. */
export function documentsBackend(
  environment: Environment,
  chance: Dice,
  instead?: Instead,
): Backend {
  const { history, world } = environment;
  const seen = documentsSeen(history, world);
  const server = serverIn(environment, chance.fork(), {
    changed: (change) => {
      seen.changed(change);
      checkWrite(change);
    },
    ...(instead && { instead }),
  });
  const checkWrite = everyWrite(server, history);
  const calm = calmPorts(server, world);
  const tokens = modelTokenStore(() => world.storeNow);
  return {
    ...calm,
    tokens: tokens.port,
    flushTokens: tokens.flush,
    keepsFanOuts: true,
    reachedBy: (life) => seen.asked(portsThrough(server, life, world, chance.fork()), life),
    statesOf: (tenant, id) => statesIn(calm.messageLog, tenant, id),
    close: async () => undefined,
  };
}

/** Resolves when everything that the adapter gathers in one turn of the event loop is sent, even if a sender gathers once more. */
export async function gathered(): Promise<void> {
  await turn();
  await turn();
}
