/** Puts into a store what only an operator could. */
import { openEmbedded } from "@posthaste/embedded";
import { tenantId } from "@posthaste/domain";
import { type Token } from "@posthaste/ports";
import { tokenHash } from "@posthaste/http";
import { systemClock, systemRandom } from "@posthaste/process";
import { firstUser } from "./users.ts";

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };
export const parts = { clock: systemClock(), random: systemRandom(), log };

export const readOnly = (token: string): Token => ({
  hash: tokenHash(token),
  tenant: tenantId(firstUser.userId),
  scope: "read",
});

/** Writes into the data directory of a standalone that does not run. */
export async function seedReadOnlyToken(dataDir: string, token: string): Promise<void> {
  const store = openEmbedded({ dataDir, ...parts });
  await store.accounts.putToken(readOnly(token));
  await store.close();
}
