/** `npm run stack`: runs the stores and the six services until it is stopped. Prints each change of a process in one line. */
import { type Asked } from "../arguments.ts";
import { type Catcher, openCatcher } from "../catcher.ts";
import { preferredPort } from "../process/ports.ts";
import { type ProcessState } from "../process/server-process.ts";
import { watchReadiness } from "../readiness.ts";
import { localManagementPassword, type RunningServices, startServices } from "../services.ts";
import { startStores, type Stores, suffices } from "../stores.ts";
import { createWorkFolder } from "../work-folder.ts";
import { say, sayStores } from "./say.ts";
import { untilTold } from "./until-told.ts";

/** The standalone's ports. Another free port is taken where one is in use, as by a second stack. */
const ports = { gateway: 8080, catcher: 8081, management: 8082 };

export async function stackCommand(asked: Asked): Promise<number> {
  const told = untilTold(asked);
  const folder = createWorkFolder();
  say(`the data are in ${folder.path} and go when the stack ends`);
  const parts: { stop(): unknown }[] = [];
  const stopAll = async () => {
    for (const part of parts.toReversed()) await part.stop();
    folder.remove();
  };
  try {
    const starting = startAll(asked, folder.path, parts);
    const started = await Promise.race([starting, told]);
    // The parts that have started end with this process.
    if (started === undefined) throw new Error("told to end before everything had started");
    if (started === "insufficient") return 1;
    console.log(greeting(started));
    await told;
    say("stopping");
    return 0;
  } finally {
    await stopAll();
  }
}

type Started = {
  readonly services: RunningServices;
  readonly catcher: Catcher;
  readonly stores: Stores;
};

async function startAll(
  asked: Asked,
  dir: string,
  parts: { stop(): unknown }[],
): Promise<Started | "insufficient"> {
  const onState = (name: string, state: ProcessState) => say(stateLine(name, state));
  const stores = await startStores({ dir, onState });
  parts.push(stores);
  sayStores(stores);
  if (!suffices(stores)) return "insufficient";

  const catcher = await openCatcher(await preferredPort(ports.catcher), say);
  parts.push({ stop: () => catcher.close() });
  const services = await startServices({
    stores,
    ports: {
      gateway: await preferredPort(ports.gateway),
      management: await preferredPort(ports.management),
    },
    env: { POSTHASTE_LOG_LEVEL: "warn" },
    onState: ({ name, port }, state) => say(`${stateLine(name, state)}  :${port}`),
    onLine: ({ name }, line) => say(`${name.padEnd(nameWidth)} | ${line.slice(0, lineLengthMax)}`),
  });
  parts.push(services);
  const watch = watchReadiness(services.all, (name, change) =>
    say(`${name.padEnd(nameWidth)}  ${change}`),
  );
  parts.push({ stop: () => watch.stop() });
  return { services, catcher, stores };
}

const nameWidth = 22;
/** The longest line shown of a service. To see more, start the service without the stack. */
const lineLengthMax = 300;

/** `deliverer 1             ready` */
function stateLine(name: string, state: ProcessState): string {
  const word = state.kind === "ended" ? `ended (${state.how})` : state.kind;
  return `${name.padEnd(nameWidth)}  ${word}`;
}

/** The token of the dev profile's first user. */
const token = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";

function greeting({ services, catcher, stores }: Started): string {
  const { gateway, management } = services;
  const stands = [stores.kafka?.name, stores.redis?.name, stores.mongodb?.name].join(", ");
  return `
  Posthaste is ready: six services over ${stands}.

  address  ${gateway.url}
  token    ${token}
  manage   ${management.url}  (admin, ${localManagementPassword})
  catcher  ${catcher.url} prints here what arrives there

  Publish a first message:

    curl -X POST ${gateway.url}/v2/publish/${catcher.url}/hello \\
      -H "Authorization: Bearer ${token}" \\
      -H "Content-Type: application/json" \\
      -d '{"hello":"world"}'

  Ctrl-C stops everything.
`;
}
