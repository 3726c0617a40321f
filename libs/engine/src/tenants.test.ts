import { describe, expect, it } from "@jest/globals";
import { defaultPlan, type TenantId } from "@posthaste/domain";
import { type Accounts, StoreError, type Tenant } from "@posthaste/ports";
import { anotherTenant, aTenant } from "@posthaste/testing";
import { open, type Ports, rest } from "./opened.fixture.ts";
import { Tenants } from "./tenants.ts";

const aTenantOf = (id: TenantId, current = "sig_1"): Tenant => ({
  id,
  dialect: "service",
  plan: defaultPlan,
  keys: { current, next: "sig_2" },
});

const rotated = (ports: Ports) =>
  ports.accounts.changeTenant(aTenant, () => aTenantOf(aTenant, "sig_new"));

/** Returns accounts that can be made unreachable. */
function switchable(ports: Ports): { accounts: Accounts; goAway: (isAway: boolean) => void } {
  let isAway = false;
  const changedSince: Accounts["changedSince"] = (mark) =>
    isAway
      ? Promise.reject(new StoreError("unavailable", "the accounts are away"))
      : ports.accounts.changedSince(mark);
  return { accounts: { ...ports.accounts, changedSince }, goAway: (away) => void (isAway = away) };
}

describe("tenants as the services see them", () => {
  it("are known from the start, and changes within five seconds", async () => {
    const ports = open();
    await ports.accounts.addTenant(aTenantOf(aTenant));
    const tenants = new Tenants(ports);
    await tenants.start();

    expect(tenants.get(aTenant)?.keys.current).toBe("sig_1");
    expect(tenants.get(anotherTenant)).toBeUndefined();
    await rotated(ports);
    await ports.accounts.addTenant(aTenantOf(anotherTenant));
    await ports.clock.advance(5_000);

    expect(tenants.get(aTenant)?.keys.current).toBe("sig_new");
    expect(tenants.get(anotherTenant)).toBeDefined();
    await tenants.stop();
  });

  it("are read again when they were changed, and only then", async () => {
    const ports = open();
    await ports.accounts.addTenant(aTenantOf(aTenant));
    await ports.accounts.addTenant(aTenantOf(anotherTenant));
    const reads: string[] = [];
    const accounts: Accounts = {
      ...ports.accounts,
      tenant: (id) => {
        reads.push(id);
        return ports.accounts.tenant(id);
      },
      tenantPage: (page) => {
        reads.push(`from behind "${page.after}"`);
        return ports.accounts.tenantPage(page);
      },
    };
    const tenants = new Tenants({ ...ports, accounts });
    await tenants.start();
    expect(reads.splice(0)).toHaveLength(2);

    await ports.clock.advance(60_000);
    expect(reads).toEqual([]);
    await rotated(ports);
    await ports.clock.advance(5_000);

    expect(reads).toEqual([aTenant]);
    await tenants.stop();
  });

  it("that are new are found at once by their first use", async () => {
    const ports = open();
    const tenants = new Tenants(ports);
    await tenants.start();

    await ports.accounts.addTenant(aTenantOf(aTenant));

    expect(tenants.get(aTenant)).toBeUndefined();
    expect((await tenants.find(aTenant))?.keys.current).toBe("sig_1");
    expect(tenants.get(aTenant)?.keys.current).toBe("sig_1");
    await tenants.stop();
  });

  it("that do not exist are looked up twice a second, however often they are used", async () => {
    const ports = open();
    let reads = 0;
    const tenant: Accounts["tenant"] = (id) => {
      reads++;
      return ports.accounts.tenant(id);
    };
    const tenants = new Tenants({ ...ports, accounts: { ...ports.accounts, tenant } });
    const find = () => Promise.all(Array.from({ length: 100 }, () => tenants.find(anotherTenant)));

    expect(new Set(await find())).toEqual(new Set([undefined]));
    await find();
    expect(reads).toBe(1);
    await ports.clock.advance(500);
    await find();

    expect(reads).toBe(2);
  });

  it("stay as they were while the accounts cannot be read, and change again when they can", async () => {
    const ports = open();
    await ports.accounts.addTenant(aTenantOf(aTenant));
    const { accounts, goAway } = switchable(ports);
    const tenants = new Tenants({ ...ports, accounts });
    await tenants.start();

    goAway(true);
    await rotated(ports);
    await ports.clock.advance(60_000);
    expect(tenants.get(aTenant)?.keys.current).toBe("sig_1");
    expect(ports.log.events()).toContain("tenants.stale");
    goAway(false);
    await ports.clock.advance(5_000);

    expect(tenants.get(aTenant)?.keys.current).toBe("sig_new");
    await tenants.stop();
  });

  it("are waited for at the start, while the store is away", async () => {
    const ports = open();
    await ports.accounts.addTenant(aTenantOf(aTenant));
    const { accounts, goAway } = switchable(ports);
    goAway(true);
    const tenants = new Tenants({ ...ports, accounts });
    let hasStarted = false;
    const starting = tenants.start().then(() => (hasStarted = true));

    await ports.clock.advance(60_000);
    expect(hasStarted).toBe(false);
    goAway(false);
    await ports.clock.advance(1_000);
    await starting;

    expect(tenants.get(aTenant)).toBeDefined();
    await tenants.stop();
  });

  it("are looked at by one timer, and by none after a stop, even one in the middle of a look", async () => {
    const ports = open();
    let letGo: () => void = () => undefined;
    const slow: Accounts["changedSince"] = async (mark) => {
      await new Promise<void>((resolve) => (letGo = resolve));
      return ports.accounts.changedSince(mark);
    };
    const tenants = new Tenants({ ...ports, accounts: { ...ports.accounts, changedSince: slow } });
    const starting = tenants.start();
    await rest(ports);
    letGo();
    await starting;
    expect(ports.clock.armed).toBe(1);

    await ports.clock.advance(4_000);
    await tenants.stop();
    letGo();
    await rest(ports);

    expect(ports.clock.armed).toBe(0);
  });
});
