/**
 * The first tenants. Owns what stands in an empty store: in the dev profile the four public development users, in
 * production one tenant with the credentials of the environment. Afterwards the store wins (decisions.md 24).
 *
 * I1 a token is written before its tenant, and proves nothing without it: a start that dies half-way is simply repeated.
 * I2 the public credentials never work outside the dev profile, also when an earlier start has stored them.
 */
import { defaultPlan, type TenantId, tenantId } from "@posthaste/domain";
import { type Accounts, type SigningKeys, type Tenant, type Token } from "@posthaste/ports";
import {
  developmentUsers,
  isPublicSecret,
  isPublicTokenHash,
  type Profile,
  tokenHash,
  userOf,
} from "@posthaste/runtime";

export type SeedConfig = {
  readonly profile: Profile;
  readonly token?: string | undefined;
  readonly signingKeyCurrent?: string | undefined;
  readonly signingKeyNext?: string | undefined;
};

export type Seeded = {
  /** To print at the start: the default tenant's public token, in the dev profile. Never a secret one. */
  readonly token: string | undefined;
  /** What an operator should know: the environment and the store disagree. */
  readonly warning: string | undefined;
};

/** Rejects when a store of the dev profile is opened outside it. */
export async function seedAccounts(options: {
  readonly accounts: Accounts;
  readonly config: SeedConfig;
}): Promise<Seeded> {
  const { accounts, config } = options;
  const stored = await storedIn(accounts);
  if (config.profile === "dev") return seedDevelopment(accounts, config, stored);
  if (holdsPublicSecret(stored)) {
    throw new Error(
      "the store was made by the dev profile and holds its public credentials: start with another POSTHASTE_DATA_DIR",
    );
  }
  if (stored.tenants.length === 0) await putFirstTenant(accounts, config);
  return { token: undefined, warning: warningOf(config, await storedIn(accounts)) };
}

type Stored = { readonly tenants: readonly Tenant[]; readonly tokens: readonly Token[] };

async function storedIn(accounts: Accounts): Promise<Stored> {
  const [tenants, tokens] = await Promise.all([accounts.tenants(), accounts.tokens()]);
  return { tenants, tokens };
}

const holdsPublicSecret = ({ tenants, tokens }: Stored): boolean =>
  tokens.some(({ hash }) => isPublicTokenHash(hash)) ||
  tenants.some(({ keys }) => isPublicSecret(keys.current) || isPublicSecret(keys.next));

async function putFirstTenant(accounts: Accounts, config: SeedConfig): Promise<void> {
  const { token } = config;
  const keys = keysOf(config);
  if (token === undefined || !keys) {
    throw new Error(
      "the first start wants POSTHASTE_TOKEN and both POSTHASTE_SIGNING_KEY variables",
    );
  }
  await putTenant(accounts, { id: tenantOf(token), tokens: [token], keys });
}

/** A store of the dev profile is completed at each start; one that production has made is left as it is. */
async function seedDevelopment(
  accounts: Accounts,
  config: SeedConfig,
  { tenants }: Stored,
): Promise<Seeded> {
  const known = new Set(tenants.map(({ id }) => id));
  const users = developmentUsers.map((user) => ({ ...user, id: tenantId(user.userId) }));
  const [first] = developmentUsers;
  if (tenants.length > 0 && !users.some(({ id }) => known.has(id))) {
    const warning =
      "the store was made by the production profile: the development credentials do not work here";
    return { token: undefined, warning };
  }
  for (const { id, token, keys, userId } of users) {
    if (known.has(id)) continue;
    const isFirst = userId === first.userId;
    const own = isFirst && config.token !== undefined ? [config.token] : [];
    const ownKeys = isFirst ? keysOf(config) : undefined;
    await putTenant(accounts, { id, tokens: [token, ...own], keys: ownKeys ?? keys });
  }
  return { token: first.token, warning: warningOf(config, await storedIn(accounts)) };
}

async function putTenant(
  accounts: Accounts,
  seed: { readonly id: TenantId; readonly tokens: readonly string[]; readonly keys: SigningKeys },
): Promise<void> {
  const { id, keys } = seed;
  for (const token of seed.tokens) {
    await accounts.putToken({ hash: tokenHash(token), tenant: id, scope: "full" });
  }
  await accounts.putTenant({ id, dialect: "service", plan: defaultPlan, keys });
}

/** An id is part of lane ids and of log lines, so that not every user name will do. */
function tenantOf(token: string): TenantId {
  const userId = userOf(token)?.userId ?? "";
  return tenantId(/^[\w-]{1,64}$/.test(userId) ? userId : "default");
}

function keysOf({ signingKeyCurrent, signingKeyNext }: SeedConfig): SigningKeys | undefined {
  if (signingKeyCurrent === undefined || signingKeyNext === undefined) return undefined;
  return { current: signingKeyCurrent, next: signingKeyNext };
}

function warningOf({ token }: SeedConfig, { tokens }: Stored): string | undefined {
  if (token === undefined || tokens.some(({ hash }) => hash === tokenHash(token))) return undefined;
  return "POSTHASTE_TOKEN is not among the store's tokens: it was read at the first start only, the store wins";
}
