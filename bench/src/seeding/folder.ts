/** Fills the data folder of a seeder: `node <seeder> <data folder> <count> <seconds>`. */
import { randomBytes } from "node:crypto";
import { type TenantId } from "@posthaste/domain";
import { type Embedded, openEmbedded } from "@posthaste/embedded";

/** Calls `seed`, which puts `atOnce` at once, until the count or the time is reached. Prints the number. */
export async function fillFolder(
  atOnce: number,
  seed: (store: Embedded, tenant: TenantId) => Promise<void>,
): Promise<void> {
  const [dataDir = "", countWanted = "0", secondsMax = "0"] = process.argv.slice(2);
  const until = performance.now() + Number(secondsMax) * 1000;
  const store = openEmbedded({
    dataDir,
    clock: {
      now: Date.now,
      passedMs: () => performance.now(),
      setAheadMs: () => 0,
      after: () => () => undefined,
    },
    random: { text, fraction: Math.random },
    log: { debug: silent, info: silent, warn: silent, error: console.error, debugs: false },
  });
  // The store's own threads do not keep the process alive, even while it waits for them.
  const alive = setInterval(silent, 1_000);
  const [tenant] = await store.accounts.tenants();
  if (tenant === undefined)
    throw new Error("start Posthaste once on the folder: there is no tenant");
  let count = 0;
  while (count < Number(countWanted) && performance.now() < until) {
    await seed(store, tenant.id);
    count += atOnce;
  }
  await store.close();
  clearInterval(alive);
  console.log(count);
}

const text = (length: number): string => randomBytes(length).toString("hex").slice(0, length);

function silent(): void {}
