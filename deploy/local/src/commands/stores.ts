/** `npm run stack -- stores`: runs only the stores until it is stopped, then removes their data. */
import { type Asked } from "../arguments.ts";
import { exitCodeFor, startStores, suffices } from "../stores.ts";
import { removeStoresFile, writeStoresFile } from "../stores-file.ts";
import { createWorkFolder } from "../work-folder.ts";
import { say, sayStores } from "./say.ts";
import { untilTold } from "./until-told.ts";

export async function storesCommand(asked: Asked): Promise<number> {
  const told = untilTold(asked);
  const folder = createWorkFolder();
  const starting = startStores({ dir: folder.path });
  const stores = await Promise.race([starting, told]);
  // The parts that have started end with this process.
  if (stores === undefined) throw new Error("told to end before everything had started");
  try {
    sayStores(stores);
    if (!suffices(stores)) return exitCodeFor(stores.missing);
    if (asked.file !== undefined) writeStoresFile(asked.file, stores);
    say("ready; Ctrl-C stops them and removes their data");
    await told;
    if (asked.file !== undefined) removeStoresFile(asked.file, stores);
    return 0;
  } finally {
    await stores.stop();
    folder.remove();
  }
}
