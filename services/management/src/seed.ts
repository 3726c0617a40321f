/**
 * Makes the first tenants. Owns the contents of an empty store: in the dev profile the four public development users,
 * in production one tenant with the credentials of the environment. After that the store takes precedence
 * (docs/design/security#authentication).
 *
 * (1) A token is written before its tenant, and authenticates no request without it, so that a start that dies
 *     half-way is simply repeated. An existing tenant, closed ones included, is left as it is, since several
 *     processes may start at once.
 * (2) The public credentials never work outside the dev profile, even when an earlier start has stored them.
 */
import { isTenantId } from "@posthaste/contract";
import { defaultPlan, type Dialect, type TenantId, tenantId } from "@posthaste/domain";
import {
  type Accounts,
  type Clock,
  type SigningKeys,
  type Tenant,
  tenantPages,
} from "@posthaste/ports";
import { developmentUsers, isPublicSecret, tokenHash, userOf } from "@posthaste/http";

export type SeedConfig = {
  readonly profile: "dev" | "production";
  readonly token?: string | undefined;
  readonly signingKeyCurrent?: string | undefined;
  readonly signingKeyNext?: string | undefined;
  /** The dialect of the tenants made. */
  readonly dialect: Dialect;
};

export type Seeded = {
  /** The default tenant's public token, to print at the start, in the dev profile. Never a secret token. */
  readonly token: string | undefined;
  /** A warning for the operator when the environment and the store disagree. */
  readonly warning: string | undefined;
};

/** No seeding reads all accounts, or opens more keys than those of the development users. */
type SeededAccounts = Pick<Accounts, "tenant" | "tenantPage" | "token" | "addTenant" | "putToken">;

export type SeedOptions = {
  readonly accounts: SeededAccounts;
  readonly clock: Clock;
  readonly config: SeedConfig;
};

/** Rejects when a store of the dev profile is opened outside it. */
export async function seedAccounts(options: SeedOptions): Promise<Seeded> {
  const { accounts, config } = options;
  if (config.profile === "dev") return seedDevelopment(options);
  if (await holdsPublicSecret(accounts)) {
    throw new Error(
      "the store was made by the dev profile and holds its public credentials: start with another POSTHASTE_DATA_DIR",
    );
  }
  if (await isEmpty(accounts)) await addFirstTenant(options);
  return { token: undefined, warning: await warningOf(options) };
}

async function isEmpty(accounts: SeededAccounts): Promise<boolean> {
  const first = await tenantPages(accounts).next();
  return first.done === true;
}

/** Returns the development users that exist. No other tenant has their keys. */
async function developmentTenants(accounts: SeededAccounts): Promise<readonly Tenant[]> {
  const found = await Promise.all(
    developmentUsers.map(({ userId }) => accounts.tenant(tenantId(userId))),
  );
  return found.filter((tenant) => tenant !== undefined);
}

async function holdsPublicSecret(accounts: SeededAccounts): Promise<boolean> {
  const tokens = await Promise.all(
    developmentUsers.map(({ token }) => accounts.token(tokenHash(token))),
  );
  if (tokens.some((token) => token !== undefined)) return true;
  return (await developmentTenants(accounts)).some(
    ({ keys }) => isPublicSecret(keys.current) || isPublicSecret(keys.next),
  );
}

async function addFirstTenant(options: SeedOptions): Promise<void> {
  const { token } = options.config;
  const keys = keysOf(options.config);
  if (token === undefined || !keys) {
    throw new Error(
      "the first start requires POSTHASTE_TOKEN and both POSTHASTE_SIGNING_KEY variables",
    );
  }
  await addTenants(options, [{ id: tenantOf(token), tokens: [token], keys }]);
}

/** Completes a store of the dev profile at each start, and leaves a store of production as it is. */
async function seedDevelopment(options: SeedOptions): Promise<Seeded> {
  const { accounts, config } = options;
  const known = new Set((await developmentTenants(accounts)).map(({ id }) => id));
  const users = developmentUsers.map((user) => ({ ...user, id: tenantId(user.userId) }));
  const [first] = developmentUsers;
  if (known.size === 0 && !(await isEmpty(accounts))) {
    const warning =
      "the store was made by the production profile: the development credentials do not work";
    return { token: undefined, warning };
  }
  const missing = users
    .filter(({ id }) => !known.has(id))
    .map(({ id, token, keys, userId }) => {
      const isFirst = userId === first.userId;
      const own = isFirst && config.token !== undefined ? [config.token] : [];
      const ownKeys = isFirst ? keysOf(config) : undefined;
      return { id, tokens: [token, ...own], keys: ownKeys ?? keys };
    });
  // Added together: a gateway that finds one of them is ready, and finds the rest later.
  await addTenants(options, missing);
  return { token: first.token, warning: await warningOf(options) };
}

type Seed = {
  readonly id: TenantId;
  readonly tokens: readonly string[];
  readonly keys: SigningKeys;
};

/**
 * Adds tokens first, since a token without its tenant authenticates no request; then all tenants together, so that none exists
 * alone for long.
 */
async function addTenants(
  { accounts, clock, config }: SeedOptions,
  seeds: readonly Seed[],
): Promise<void> {
  const createdAt = clock.now();
  const tokens = seeds.flatMap(({ id, tokens: own }) => own.map((token) => ({ id, token })));
  for (const { id, token } of tokens) {
    await accounts.putToken({ hash: tokenHash(token), tenant: id, scope: "full", createdAt });
  }
  const added = seeds.map(({ id, keys }) =>
    accounts.addTenant({ id, dialect: config.dialect, plan: defaultPlan, keys }),
  );
  await Promise.all(added);
}

/** Returns the token's user id if it can be a tenant id, which is part of lane ids and log lines; otherwise "default". */
function tenantOf(token: string): TenantId {
  const userId = userOf(token)?.userId ?? "";
  return tenantId(isTenantId(userId) ? userId : "default");
}

function keysOf({ signingKeyCurrent, signingKeyNext }: SeedConfig): SigningKeys | undefined {
  if (signingKeyCurrent === undefined || signingKeyNext === undefined) return undefined;
  return { current: signingKeyCurrent, next: signingKeyNext };
}

async function warningOf({ accounts, config }: SeedOptions): Promise<string | undefined> {
  const { token } = config;
  if (token === undefined || (await accounts.token(tokenHash(token)))) return undefined;
  return "POSTHASTE_TOKEN is not among the store's tokens: it is read at the first start only";
}
