/** Puts data into a store that only an operator could. */
import { strict as assert } from "node:assert";
import { openEmbedded } from "@posthaste/embedded";
import { defaultPlan, tenantId, type TokenScope } from "@posthaste/domain";
import { type Accounts, untilAvailable } from "@posthaste/ports";
import { type DevelopmentUser, tokenHash } from "@posthaste/http";
import {
  createSealer,
  keyInFile,
  sealAccounts,
  systemClock,
  systemRandom,
} from "@posthaste/process";
import { firstUser } from "./users.ts";

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };
export const parts = { clock: systemClock(), random: systemRandom(), log };

export type Seed = {
  /** The tenants to make. Elsewhere they are those of the dev profile, which makes them itself. */
  readonly users: readonly DevelopmentUser[];
  /** A token of the suite's first user, who may be made later. */
  readonly readOnlyToken?: string | undefined;
};

export const isEmpty = ({ users, readOnlyToken }: Seed): boolean =>
  users.length === 0 && readOnlyToken === undefined;

/** `key` is the sealing key of the processes that will open the store. */
export async function seed(
  stored: Accounts,
  key: Uint8Array,
  { users, readOnlyToken }: Seed,
): Promise<void> {
  const accounts = sealAccounts(stored, createSealer([key]));
  const putToken = (token: string, { userId }: DevelopmentUser, scope: TokenScope) =>
    accounts.putToken({ hash: tokenHash(token), tenant: tenantId(userId), scope });
  const acts: (() => Promise<unknown>)[] = users.flatMap((user) => [
    () => putToken(user.token, user, "full"),
    () =>
      accounts.addTenant({
        id: tenantId(user.userId),
        dialect: "service",
        plan: defaultPlan,
        keys: user.keys,
      }),
  ]);
  if (readOnlyToken !== undefined)
    acts.push(() => putToken(readOnlyToken, users[0] ?? firstUser, "read"));
  await Promise.all(acts.map((act) => untilAvailable(parts.clock, act)));
}

/** Writes into the data directory of a standalone that does not run. */
export async function seedStandalone(dataDir: string, seeds: readonly Seed[]): Promise<void> {
  if (seeds.every(isEmpty)) return;
  const store = openEmbedded({ dataDir, ...parts });
  const key = keyInFile(dataDir, true);
  assert(key, "the key is made");
  await Promise.all(seeds.map((each) => seed(store.accounts, key, each)));
  await store.close();
}
