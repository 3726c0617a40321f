/** The contract of `Accounts`. */
import { expect } from "@jest/globals";
import { defaultPlan } from "@posthaste/domain";
import { type Accounts, type Tenant, type Token } from "@posthaste/ports";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { type Closable, contract, type Deviation } from "./guarantee.ts";

export type AccountsHarness = Closable & { readonly accounts: Accounts };

export function describeAccounts(
  name: string,
  open: () => Promise<AccountsHarness>,
  deviations: readonly Deviation[] = [],
): void {
  contract(`${name}: accounts`, open, { deviations }, (guarantee) => {
    guarantee("a new installation has no tenants and no tokens", async ({ accounts }) => {
      expect(await accounts.tenants()).toEqual([]);
      expect(await accounts.tokens()).toEqual([]);
    });

    guarantee(
      "tenants are read back as they were written, with their plans and keys",
      async ({ accounts }) => {
        const mine = tenant();
        const theirs = tenant({
          id: anotherTenant,
          dialect: "upstash",
          plan: { ...defaultPlan, retriesMax: 5 },
        });
        await accounts.putTenant(mine);
        await accounts.putTenant(theirs);

        const found = await accounts.tenants();

        expect(found.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([mine, theirs]);
      },
    );

    guarantee("a tenant that is written again is replaced", async ({ accounts }) => {
      const rotated = tenant({ keys: { current: "sig_next", next: "sig_new" } });
      await accounts.putTenant(tenant());
      await accounts.putTenant(rotated);
      await accounts.putTenant(rotated);

      expect(await accounts.tenants()).toEqual([rotated]);
    });

    guarantee(
      "tokens are read back as they were written, and replaced by their hash",
      async ({ accounts }) => {
        const full: Token = { hash: "a".repeat(43), tenant: aTenant, scope: "full" };
        const read: Token = { hash: "b".repeat(43), tenant: aTenant, scope: "read" };
        await accounts.putTenant(tenant());
        await accounts.putToken(full);
        await accounts.putToken({ ...read, scope: "full" });
        await accounts.putToken(read);

        const found = await accounts.tokens();

        expect(found.toSorted((a, b) => a.hash.localeCompare(b.hash))).toEqual([full, read]);
      },
    );

    guarantee("a secret is made once and stays, each name with its own", async ({ accounts }) => {
      const first = await accounts.secret("cursor", () => "one");
      const again = await accounts.secret("cursor", () => "two");
      const other = await accounts.secret("other", () => "three");

      expect([first, again, other]).toEqual(["one", "one", "three"]);
    });

    guarantee("of ten who ask for a secret first, all get the same", async ({ accounts }) => {
      const secrets = await Promise.all(
        Array.from({ length: 10 }, (_, i) => accounts.secret("cursor", () => `made by ${i}`)),
      );

      expect(new Set(secrets).size).toBe(1);
      expect(await accounts.secret("cursor", () => "too late")).toBe(secrets[0]);
    });
  });
}

const tenant = (overrides: Partial<Tenant> = {}): Tenant => ({
  id: aTenant,
  dialect: "service",
  plan: defaultPlan,
  keys: { current: "sig_current", next: "sig_next" },
  ...overrides,
});
