import { expect } from "@jest/globals";
import { defaultPlan, fault, tenantId } from "@posthaste/domain";
import {
  type AccountChanges,
  type Accounts,
  changedTenantsMax,
  type Tenant,
  type Token,
} from "@posthaste/ports";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract } from "./guarantee.ts";

export type AccountsHarness = Closable & { readonly accounts: Accounts };

const racersCount = 10;

export function describeAccounts(name: string, open: () => Promise<AccountsHarness>): void {
  contract(`${name}: accounts`, open, {}, (it) => {
    it("a new installation has no tenants and no tokens", async ({ accounts }) => {
      expect(await accounts.tenants()).toEqual([]);
      expect(await accounts.tokens()).toEqual([]);
    });

    it("tenants are read back as they were written, with their plans and keys", async ({
      accounts,
    }) => {
      const mine = aTenantWith();
      const theirs = aTenantWith({
        id: anotherTenant,
        dialect: "upstash",
        plan: { ...defaultPlan, retriesMax: 5 },
        closedAt: epochStart,
      });

      const added = [await accounts.addTenant(mine), await accounts.addTenant(theirs)];

      expect(added).toEqual([true, true]);
      expect(byId(await accounts.tenants())).toEqual([mine, theirs]);
    });

    it("a tenant is found by its id, and all of them page by page", async ({ accounts }) => {
      const ids = ["b", "a", "C", "d-1"].map(tenantId);
      for (const id of ids) await accounts.addTenant(aTenantWith({ id }));
      const idsOf = async (after: string, limit: number) =>
        (await accounts.tenantPage({ after, limit })).map(({ id }) => id);

      expect(await accounts.tenant(tenantId("b"))).toEqual(aTenantWith({ id: tenantId("b") }));
      expect(await accounts.tenant(tenantId("c"))).toBeUndefined();
      expect(await idsOf("", 2)).toEqual(["C", "a"]);
      expect(await idsOf("a", 10)).toEqual(["b", "d-1"]);
      expect(await idsOf("d-1", 10)).toEqual([]);
    });

    it("an insert of an existing tenant leaves it unchanged", async ({ accounts }) => {
      await accounts.addTenant(aTenantWith());

      const added = await accounts.addTenant(aTenantWith({ dialect: "upstash" }));

      expect(added).toBe(false);
      expect(await accounts.tenants()).toEqual([aTenantWith()]);
    });

    it("ten inserts of one tenant at once insert it once", async ({ accounts }) => {
      const keysOf = (n: number) => ({ current: `sig_${n}`, next: `sig_next_${n}` });

      const added = await Promise.all(
        racers((n) => accounts.addTenant(aTenantWith({ keys: keysOf(n) }))),
      );

      const winner = added.indexOf(true);
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await accounts.tenants()).toEqual([aTenantWith({ keys: keysOf(winner) })]);
    });

    it("a change of a tenant is stored and returned", async ({ accounts }) => {
      await accounts.addTenant(aTenantWith());
      await accounts.addTenant(aTenantWith({ id: anotherTenant }));
      const rotated = { current: "sig_next", next: "sig_new" };

      const answered = await accounts.changeTenant(aTenant, (tenant) => ({
        ...tenant,
        keys: rotated,
        closedAt: epochStart,
      }));

      const changed = aTenantWith({ keys: rotated, closedAt: epochStart });
      expect(answered).toEqual(changed);
      expect(byId(await accounts.tenants())).toEqual([changed, aTenantWith({ id: anotherTenant })]);
    });

    it("a change that is a fault changes nothing", async ({ accounts }) => {
      await accounts.addTenant(aTenantWith());
      const refused = fault("not_found", "closed");

      const answered = await accounts.changeTenant(aTenant, () => refused);

      expect(answered).toEqual(refused);
      expect(await accounts.tenants()).toEqual([aTenantWith()]);
    });

    it("a change of a missing tenant changes nothing", async ({ accounts }) => {
      const answered = await accounts.changeTenant(aTenant, (tenant) => tenant);

      expect(answered).toBeUndefined();
      expect(await accounts.tenants()).toEqual([]);
    });

    it("ten changes of one tenant at once are all kept", async ({ accounts }) => {
      await accounts.addTenant(aTenantWith({ plan: { ...defaultPlan, retriesMax: 0 } }));

      await Promise.all(
        racers(() =>
          accounts.changeTenant(aTenant, (tenant) => ({
            ...tenant,
            plan: { ...tenant.plan, retriesMax: tenant.plan.retriesMax + 1 },
          })),
        ),
      );

      const [tenant] = await accounts.tenants();
      expect(tenant?.plan.retriesMax).toBe(racersCount);
    });

    it("tokens are read back as they were written, and replaced by their hash", async ({
      accounts,
    }) => {
      const full: Token = { hash: "a".repeat(43), tenant: aTenant, scope: "full" };
      const read: Token = {
        hash: "b".repeat(43),
        tenant: aTenant,
        scope: "read",
        createdAt: epochStart,
      };
      await accounts.putToken(full);
      await accounts.putToken({ ...read, scope: "full" });
      await accounts.putToken(read);

      expect(byHash(await accounts.tokens())).toEqual([full, read]);
      expect(byHash(await accounts.tokensOf(aTenant))).toEqual([full, read]);
      expect(await accounts.tokensOf(anotherTenant)).toEqual([]);
    });

    it("a token keeps its scope, name, times and latest use", async ({ accounts }) => {
      const whole: Token = {
        hash: "a".repeat(43),
        tenant: aTenant,
        scope: "queue:emails",
        name: "shop",
        createdAt: epochStart,
        expiresAt: epochStart + 2,
      };
      const other: Token = { hash: "b".repeat(43), tenant: aTenant, scope: "publish" };
      await accounts.putToken(whole);
      await accounts.putToken(other);
      const told = follow(accounts);
      await told();

      await accounts.noteUses([whole.hash, "c".repeat(43)], epochStart + 1);
      await accounts.noteUses([whole.hash], epochStart);
      await accounts.noteUses([], epochStart);

      const used = { ...whole, usedAt: epochStart + 1 };
      expect(await accounts.token(whole.hash)).toEqual(used);
      expect(byHash(await accounts.tokens())).toEqual([used, other]);
      expect(await told()).toEqual([]);
    });

    it("a removed token no longer exists, and the others stay", async ({ accounts }) => {
      const stays: Token = { hash: "a".repeat(43), tenant: aTenant, scope: "full" };
      const goes: Token = { hash: "b".repeat(43), tenant: aTenant, scope: "full" };
      await accounts.putToken(stays);
      await accounts.putToken(goes);

      await accounts.removeToken(goes.hash);
      await accounts.removeToken(goes.hash);

      expect(await accounts.tokens()).toEqual([stays]);
    });

    it("a token is found by its hash, and all of them page by page", async ({ accounts }) => {
      const hashes = ["b", "-", "a", "_C", "D"];
      for (const hash of hashes) await accounts.putToken({ hash, tenant: aTenant, scope: "read" });
      const hashesOf = async (after: string, limit: number) =>
        (await accounts.tokenPage({ after, limit })).map(({ hash }) => hash);

      expect(await accounts.token("a")).toEqual({ hash: "a", tenant: aTenant, scope: "read" });
      expect(await accounts.token("A")).toBeUndefined();
      expect(await hashesOf("", 2)).toEqual(["-", "D"]);
      expect(await hashesOf("D", 10)).toEqual(["_C", "a", "b"]);
      expect(await hashesOf("b", 10)).toEqual([]);
    });

    it("a change is reported once, and no change reports nothing", async (harness) => {
      const { accounts } = harness;
      const token: Token = { hash: "a".repeat(43), tenant: anotherTenant, scope: "full" };
      const told = follow(accounts);
      expect(await told()).toBe("all");
      expect(await told()).toEqual([]);

      await accounts.addTenant(aTenantWith());
      expect(await told()).toEqual([aTenant]);
      await accounts.changeTenant(aTenant, (tenant) => ({ ...tenant, closedAt: epochStart }));
      await accounts.putToken(token);
      expect(await told()).toEqual([aTenant, anotherTenant]);
      await accounts.removeToken(token.hash);
      expect(await told()).toEqual([anotherTenant]);

      await accounts.removeToken(token.hash);
      await accounts.addTenant(aTenantWith());
      await accounts.changeTenant(aTenant, () => fault("not_found", "closed"));
      await accounts.changeTenant(anotherTenant, (tenant) => tenant);
      await accounts.secret("cursor", () => "one");
      expect(await told()).toEqual([]);
    });

    it("each of two readers learns of each of several changes at once", async ({ accounts }) => {
      const readers = [follow(accounts), follow(accounts)];
      for (const told of readers) await told();
      const ids = Array.from({ length: racersCount }, (_, n) => tenantId(`tenant-${n}`));

      await Promise.all(ids.map((id) => accounts.addTenant(aTenantWith({ id }))));

      for (const told of readers) expect(new Set(await told())).toEqual(new Set(ids));
    });

    it("a reader that missed too many changes has to read everything", async ({ accounts }) => {
      const told = follow(accounts);
      await told();
      const token: Token = { hash: "a".repeat(43), tenant: aTenant, scope: "full" };

      for (let n = 0; n <= changedTenantsMax; n++) await accounts.putToken(token);

      expect(await told()).toBe("all");
      expect(await told()).toEqual([]);
    });

    it("a secret is made once and stays, each under its own name", async ({ accounts }) => {
      const first = await accounts.secret("cursor", () => "one");
      const again = await accounts.secret("cursor", () => "two");
      const other = await accounts.secret("other", () => "three");

      expect([first, again, other]).toEqual(["one", "one", "three"]);
    });

    it("ten processes that need a new secret at once get the same", async ({ accounts }) => {
      const secrets = await Promise.all(
        racers((n) => accounts.secret("cursor", () => `made by ${n}`)),
      );

      expect(new Set(secrets).size).toBe(1);
      expect(await accounts.secret("cursor", () => "too late")).toBe(secrets[0]);
    });

    it("ten changes of a secret at once are all kept", async ({ accounts }) => {
      await accounts.secret("cursor", () => "");
      await accounts.secret("other", () => "as it was");

      await Promise.all(racers(() => accounts.changeSecret("cursor", (value) => `${value}x`)));
      await accounts.changeSecret("unknown", () => "made");

      expect(await accounts.secret("cursor", () => "")).toBe("x".repeat(racersCount));
      expect(await accounts.secret("other", () => "")).toBe("as it was");
      expect(await accounts.secret("unknown", () => "not made")).toBe("not made");
    });
  });
}

/** Returns a function that returns the changes since its last call. */
function follow(accounts: Accounts): () => Promise<AccountChanges["tenants"]> {
  let mark: AccountChanges["mark"] | undefined;
  return async () => {
    const changes = await accounts.changedSince(mark);
    mark = changes.mark;
    return changes.tenants;
  };
}

const racers = <T>(run: (n: number) => Promise<T>): Promise<T>[] =>
  Array.from({ length: racersCount }, (_, n) => run(n));

const byId = (tenants: readonly Tenant[]) => tenants.toSorted((a, b) => a.id.localeCompare(b.id));
const byHash = (tokens: readonly Token[]) =>
  tokens.toSorted((a, b) => a.hash.localeCompare(b.hash));

const aTenantWith = (overrides: Partial<Tenant> = {}): Tenant => ({
  id: aTenant,
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "sig_current", next: "sig_next" },
  ...overrides,
});
