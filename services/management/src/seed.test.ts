import { beforeEach, describe, expect, it } from "@jest/globals";
import { tenantId } from "@posthaste/domain";
import { type Accounts, type Tenant, type Token } from "@posthaste/ports";
import { epochStart, virtualClock } from "@posthaste/testing";
import { developmentUsers, tokenHash } from "@posthaste/http";
import { seedAccounts, type SeedConfig, type SeedOptions } from "./seed.ts";

type SeededAccounts = SeedOptions["accounts"] & Pick<Accounts, "tenants" | "tokens">;

/** `writesLeft`: the number of writes after which the process dies. */
function accountsInMemory(): SeededAccounts & {
  tenantsById: Map<string, Tenant>;
  writesLeft: number;
} {
  const tenantsById = new Map<string, Tenant>();
  const tokensByHash = new Map<string, Token>();
  const accounts = {
    tenantsById,
    writesLeft: Infinity,
    tenants: async () => [...tenantsById.values()],
    tokens: async () => [...tokensByHash.values()],
    tenant: async (id: string) => tenantsById.get(id),
    tenantPage: async ({ limit }: { readonly limit: number }) =>
      [...tenantsById.values()].slice(0, limit),
    token: async (hash: string) => tokensByHash.get(hash),
    addTenant: async (tenant: Tenant) => {
      if (tenantsById.has(tenant.id)) return false;
      write(() => tenantsById.set(tenant.id, tenant));
      return true;
    },
    putToken: async (token: Token) => write(() => tokensByHash.set(token.hash, token)),
  };
  function write(work: () => unknown): void {
    if (accounts.writesLeft-- <= 0) throw new Error("killed");
    work();
  }
  return accounts;
}

const own: SeedConfig = {
  profile: "production",
  dialect: "service",
  token: Buffer.from(`{"UserID":"me","Password":"${"p".repeat(20)}"}`).toString("base64"),
  signingKeyCurrent: `sig_${"a".repeat(28)}`,
  signingKeyNext: `sig_${"b".repeat(28)}`,
};
const dev: SeedConfig = { profile: "dev", dialect: "service" };

let accounts: ReturnType<typeof accountsInMemory>;
const clock = virtualClock();
const seed = (config: SeedConfig) => seedAccounts({ accounts, clock, config });
const hashes = async () => (await accounts.tokens()).map(({ hash }) => hash).toSorted();

beforeEach(() => {
  accounts = accountsInMemory();
});

describe("the first start in production", () => {
  it("makes one tenant with the credentials of the environment, and does not print them", async () => {
    const seeded = await seed(own);

    expect(await accounts.tenants()).toEqual([
      {
        id: tenantId("me"),
        dialect: "service",
        plan: expect.anything(),
        keys: { current: own.signingKeyCurrent, next: own.signingKeyNext },
      },
    ]);
    expect(await accounts.tokens()).toEqual([
      {
        hash: tokenHash(own.token ?? ""),
        tenant: tenantId("me"),
        scope: "full",
        createdAt: epochStart,
      },
    ]);
    expect(seeded).toEqual({ token: undefined, warning: undefined });
  });

  it.each([
    ["a plain token", "t".repeat(32)],
    [
      "a user whose name is no id",
      Buffer.from(`{"UserID":"a:b","Password":"x"}`).toString("base64"),
    ],
  ])("names the tenant of %s default", async (_, token) => {
    await seed({ ...own, token });

    expect([...accounts.tenantsById.keys()]).toEqual(["default"]);
  });

  it("does not happen without credentials", async () => {
    const none: SeedConfig = { profile: "production", dialect: "service" };
    await expect(seed(none)).rejects.toThrow("POSTHASTE_TOKEN");
  });
});

describe("the first start of the dev profile", () => {
  it("makes the four development users with their keys, and prints the first one's token", async () => {
    const seeded = await seed(dev);

    for (const { userId, keys } of developmentUsers) {
      expect(accounts.tenantsById.get(userId)?.keys).toEqual(keys);
    }
    expect(await hashes()).toEqual(
      developmentUsers.map(({ token }) => tokenHash(token)).toSorted(),
    );
    expect(seeded).toEqual({ token: developmentUsers[0].token, warning: undefined });
  });

  it("gives the first one the environment's token and keys as well", async () => {
    await seed({ ...own, profile: "dev" });

    expect(accounts.tenantsById.get("defaultUser")?.keys.current).toBe(own.signingKeyCurrent);
    expect(await hashes()).toContain(tokenHash(own.token ?? ""));
    expect(await hashes()).toContain(tokenHash(developmentUsers[0].token));
  });
});

it.each([
  ["production", own],
  ["the dev profile", dev],
])("the tenants that %s makes speak the dialect of the environment", async (_, config) => {
  await seed({ ...config, dialect: "upstash" });

  expect(new Set((await accounts.tenants()).map(({ dialect }) => dialect))).toEqual(
    new Set(["upstash"]),
  );
});

describe("a later start", () => {
  it.each([
    ["production", own],
    ["the dev profile", dev],
  ])("of %s changes nothing", async (_, config) => {
    await seed(config);
    accounts.writesLeft = 0;

    await expect(seed(config)).resolves.toMatchObject({ warning: undefined });
  });

  it("lets the store win over a changed environment, and logs that", async () => {
    await seed(own);

    const seeded = await seed({ ...own, token: "x".repeat(32), signingKeyCurrent: "sig_c" });

    expect(seeded.warning).toContain("POSTHASTE_TOKEN is not among the store's tokens");
    expect(await hashes()).toEqual([tokenHash(own.token ?? "")]);
    expect(accounts.tenantsById.get("me")?.keys.current).toBe(own.signingKeyCurrent);
  });

  it.each([
    ["production", own],
    ["the dev profile", dev],
  ])("of %s completes a start that died after any write", async (_, config) => {
    const whole = accountsInMemory();
    await seedAccounts({ accounts: whole, clock, config });

    for (let writes = 0; writes < 8; writes++) {
      accounts = accountsInMemory();
      accounts.writesLeft = writes;
      await seed(config).catch(() => undefined);
      accounts.writesLeft = Infinity;
      await seed(config);

      expect(await accounts.tenants()).toEqual(await whole.tenants());
      expect(await accounts.tokens()).toEqual(await whole.tokens());
    }
  });
});

describe("a store of the other profile", () => {
  it("made by dev is refused by production, since it holds public credentials", async () => {
    await seed(dev);

    await expect(seed(own)).rejects.toThrow("made by the dev profile");
  });

  it("half made by dev is refused by production, too", async () => {
    accounts.writesLeft = 1;
    await seed(dev).catch(() => undefined);
    accounts.writesLeft = Infinity;

    await expect(seed(own)).rejects.toThrow("made by the dev profile");
  });

  it("made by production gets no public credentials from dev", async () => {
    await seed(own);

    const seeded = await seed(dev);

    expect(await hashes()).toEqual([tokenHash(own.token ?? "")]);
    expect(seeded.token).toBeUndefined();
    expect(seeded.warning).toContain("made by the production profile");
  });
});
