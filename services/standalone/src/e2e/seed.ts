/** What only an operator could put into a store: done before the server opens it. */
import { hash } from "node:crypto";
import { tenantId } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { systemClock, systemRandom } from "@posthaste/runtime";

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };

/** A token of `userId` that may only read, in the store of `dataDir`, which no server may have open. */
export async function seedReadOnlyToken(
  dataDir: string,
  userId: string,
  token: string,
): Promise<void> {
  const store = openEmbedded({ dataDir, clock: systemClock(), random: systemRandom(), log });
  const tokenHash = hash("sha256", token, "base64url");
  await store.accounts.putToken({ hash: tokenHash, tenant: tenantId(userId), scope: "read" });
  await store.close();
}
