/**
 * Sealed ports over a real store: they return what was stored, and the store sees no secret in plain text
 * (docs/design/security#secrets).
 */
import { beforeEach, describe, expect, it } from "@jest/globals";
import { defaultPlan, fault, tenantId } from "@posthaste/domain";
import { type Embedded } from "@posthaste/embedded";
import { type Accounts, type SearchIndex, type SearchIndexes, type Tenant } from "@posthaste/ports";
import {
  createSealer,
  sealAccounts,
  sealIndexes,
  type Sealer,
  sealStored,
} from "@posthaste/process";
import { virtualClock } from "@posthaste/testing";
import { describeAccounts, describeSearchIndexes } from "@posthaste/testing/contract";
import { limitsOfType } from "./index-limits.ts";
import { openStore } from "./opened.fixture.ts";
import { seedAccounts } from "./seed.ts";

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const [oldKey, newKey] = [keyOf(1), keyOf(2)];

const close = (): Promise<void> => Promise.resolve();
describeAccounts("sealed", async () => ({
  accounts: sealAccounts(openStore().accounts, createSealer([oldKey])),
  close,
}));
describeSearchIndexes("sealed", async () => ({
  indexes: sealIndexes(openStore().indexes, createSealer([oldKey])),
  close,
}));

const me = tenantId("me");
const tenant: Tenant = {
  id: me,
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "canary-current", next: "canary-next" },
};
const index: SearchIndex = {
  id: "an index",
  owner: me,
  name: "articles",
  endpoint: "https://search.example",
  type: "free",
  region: "eu-west-1",
  partnerEmail: "",
  tokens: { full: "canary-full", readOnly: "canary-read-only" },
  limits: limitsOfType("free"),
  inputEnrichment: false,
  createdAt: 1,
  throughput: [],
};

let store: Embedded;
let sealer: Sealer;
let accounts: Accounts;
let indexes: SearchIndexes;

beforeEach(() => {
  store = openStore();
  sealer = createSealer([oldKey]);
  accounts = sealAccounts(store.accounts, sealer);
  indexes = sealIndexes(store.indexes, sealer);
});

const seen = async (): Promise<string> =>
  JSON.stringify([
    await store.accounts.tenants(),
    await store.accounts.secret("cursors", () => "there is none"),
    await store.indexes.list(),
  ]);

describe("the store", () => {
  it("sees no signing key, no secret and no token of an index, however they came about", async () => {
    await accounts.addTenant(tenant);
    await accounts.secret("cursors", () => "canary-secret");
    await indexes.add(index);
    expect(await seen()).not.toContain("canary");

    await accounts.changeTenant(me, (stored) => ({
      ...stored,
      keys: { current: stored.keys.next, next: "canary-newer" },
    }));
    await accounts.changeSecret("cursors", (value) => `${value}-changed`);
    await indexes.change(index.id, (stored) => ({
      ...stored,
      tokens: { full: "canary-newer", readOnly: stored.tokens.full },
    }));

    expect(await seen()).not.toContain("canary");
    expect(await accounts.tenants()).toMatchObject([
      { keys: { current: "canary-next", next: "canary-newer" } },
    ]);
    expect(await accounts.secret("cursors", () => "")).toBe("canary-secret-changed");
    expect(await indexes.get(index.id)).toMatchObject({
      tokens: { full: "canary-newer", readOnly: "canary-full" },
    });
  });

  it("is not written to by a change that is refused", async () => {
    await accounts.addTenant(tenant);
    const before = await seen();

    const refused = fault("not_found", "closed");

    expect(await accounts.changeTenant(me, () => refused)).toEqual(refused);
    expect(await seen()).toBe(before);
  });

  it("cannot give one tenant the keys of another", async () => {
    const you = { ...tenant, id: tenantId("you") };
    await accounts.addTenant(tenant);
    await accounts.addTenant(you);
    const [mine] = await store.accounts.tenants();
    await store.accounts.changeTenant(you.id, (stored) => ({
      ...stored,
      keys: mine?.keys ?? stored.keys,
    }));

    // Also if the text was opened for the other tenant before.
    expect((await accounts.tenant(me))?.keys).toEqual(tenant.keys);
    const yours = await accounts.tenant(you.id);

    expect(() => yours?.keys.current).toThrow(
      "the signing key of you is damaged, or was sealed for another place",
    );
  });
});

describe("stored secrets", () => {
  let opens: string[];
  const counted: Pick<Sealer, "open"> = {
    open: (text, place) => {
      opens.push(place);
      return sealer.open(text, place);
    },
  };

  beforeEach(async () => {
    opens = [];
    for (const id of ["me", "you", "they"])
      await accounts.addTenant({ ...tenant, id: tenantId(id) });
    await indexes.add(index);
    accounts = sealAccounts(store.accounts, { ...sealer, ...counted });
    indexes = sealIndexes(store.indexes, { ...sealer, ...counted });
  });

  it("is opened when it is used, and once", async () => {
    const page = { after: "", limit: 10 };
    const all = [...(await accounts.tenants()), ...(await accounts.tenantPage(page))];
    const listed = await indexes.page({ after: undefined, limit: 10 });
    await indexes.list();
    expect(opens).toEqual([]);

    for (const { id, keys } of all) if (id === me) expect(keys.current).toBe("canary-current");
    expect((await accounts.tenant(me))?.keys.current).toBe("canary-current");
    for (const { tokens } of listed) expect(tokens.full).toBe("canary-full");

    expect(opens).toEqual(["the signing key of me", "the token of the index an index"]);
  });

  it("is refused whole without the key that it is sealed with: such a process is not ready", async () => {
    const without = createSealer([newKey]);

    for (const read of [
      () => sealAccounts(store.accounts, without).tenantPage({ after: "", limit: 1 }),
      () => sealAccounts(store.accounts, without).tenant(me),
      () => sealIndexes(store.indexes, without).list(),
    ])
      await expect(read()).rejects.toThrow(
        / was sealed with the key [0-9a-f]{8}, which is not configured$/,
      );
  });

  it("is that which was stored last", async () => {
    expect((await accounts.tenant(me))?.keys.current).toBe("canary-current");
    await accounts.changeTenant(me, (stored) => ({
      ...stored,
      keys: { current: stored.keys.next, next: "canary-newer" },
    }));

    expect((await accounts.tenant(me))?.keys).toEqual({
      current: "canary-next",
      next: "canary-newer",
    });
  });

  it("is neither opened at a start nor read all at once", async () => {
    const pagesAlone = {
      accounts: { ...store.accounts, tenants: atOnce, tokens: atOnce },
      indexes: { ...store.indexes, list: atOnce },
    };

    await sealStored(pagesAlone, { ...sealer, ...counted });
    const config = { profile: "production", dialect: "service", token: "t" } as const;
    const seeded = await seedAccounts({
      accounts: sealAccounts(pagesAlone.accounts, { ...sealer, ...counted }),
      ...{ clock: virtualClock(), config },
    });

    expect(seeded.warning).toContain("POSTHASTE_TOKEN is not among the store's tokens");
    expect(opens).toEqual([]);
  });

  const atOnce = (): Promise<never> => Promise.reject(new Error("all of them at once"));
});

describe("a start", () => {
  it("seals secrets of the old key with a new key, so that the old key can be removed", async () => {
    await accounts.addTenant(tenant);
    await accounts.secret("cursors", () => "canary-secret");
    await indexes.add(index);
    const both = createSealer([newKey, oldKey]);

    await sealStored(store, both);
    await sealAccounts(store.accounts, both).secret("cursors", () => "");

    const alone = createSealer([newKey]);
    expect(await sealAccounts(store.accounts, alone).tenants()).toEqual([tenant]);
    expect(await sealAccounts(store.accounts, alone).secret("cursors", () => "")).toBe(
      "canary-secret",
    );
    expect(await sealIndexes(store.indexes, alone).list()).toEqual([index]);
  });

  it("leaves correctly sealed secrets alone", async () => {
    await accounts.addTenant(tenant);
    await indexes.add(index);
    const before = await seen();

    await sealStored(store, sealer);

    expect(await seen()).toBe(before);
  });

  it("without the key of a secret fails, and says whose it is", async () => {
    await accounts.addTenant(tenant);

    await expect(sealStored(store, createSealer([newKey]))).rejects.toThrow(
      /^the signing key of me was sealed with the key [0-9a-f]{8}, which is not configured$/,
    );
  });
});
