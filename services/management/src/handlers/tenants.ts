/** `/v2/tenants`: the tenants of this installation and their plans. */
import { planJson, type TenantJson, type tenants, type TenantSettings } from "@posthaste/contract";
import { defaultPlan, fault, type Fault, isFault, type TenantId } from "@posthaste/domain";
import { indexPages, type Tenant, tenantPages } from "@posthaste/ports";
import { cancelRunsSoon } from "@posthaste/engine";
import { listTexts, newSigningKey } from "@posthaste/http";
import { changedPlan } from "../plan.ts";
import { changeOpen, findTenant, isOpen } from "../tenants.ts";
import { type ManagementPorts, type HandlerParts } from "../ports.ts";
import { type Handlers } from "./handler.ts";

/** Bounded, since every service reads all tenants. Closed tenants count, since they are kept. */
const tenantsMax = 10_000;

export const tenantHandlers = (ports: HandlerParts): Handlers<keyof typeof tenants> => ({
  listTenants: async () => ({
    status: 200,
    read: async (permit) => ({ pieces: listTexts(openTenants(ports.reads(permit).tenants())) }),
  }),
  createTenant: ({ body }) => create(ports, body),
  readTenant: async ({ param }) => {
    const tenant = await findTenant(ports.accounts, param("id"));
    return isFault(tenant) ? tenant : { status: 200, json: tenantJson(tenant) };
  },
  changeTenant: async ({ param, body }) => {
    const tenant = await change(ports, param("id"), body);
    return isFault(tenant) ? tenant : { status: 200, json: tenantJson(tenant) };
  },
  closeTenant: async ({ param }) => (await close(ports, param("id"))) ?? { status: 200 },
});

async function* openTenants(
  pages: AsyncIterable<readonly Tenant[]>,
): AsyncGenerator<readonly TenantJson[]> {
  for await (const page of pages) yield page.filter(isOpen).map(tenantJson);
}

const tenantJson = ({ id, dialect, plan }: Tenant): TenantJson => ({
  id,
  dialect,
  plan: planJson(plan),
});

type Created = { readonly status: 201; readonly json: TenantJson };

async function create(
  { accounts, random }: ManagementPorts,
  { id, dialect = "service", limits }: TenantSettings & { readonly id: TenantId },
): Promise<Created | Fault> {
  const plan = changedPlan(defaultPlan, limits);
  if (isFault(plan)) return plan;
  let count = 0;
  for await (const page of tenantPages(accounts)) count += page.length;
  if (count >= tenantsMax)
    return fault("beyond_plan", `there are ${tenantsMax} tenants already, closed ones included`);
  const keys = { current: newSigningKey(random), next: newSigningKey(random) };
  const tenant: Tenant = { id, dialect, plan, keys };
  return (await accounts.addTenant(tenant)) ? { status: 201, json: tenantJson(tenant) } : taken(id);
}

const taken = (id: string): Fault =>
  fault("conflict", `id: ${id} belongs to a tenant, which may be closed`);

const change = ({ accounts }: ManagementPorts, id: string, settings: TenantSettings) =>
  changeOpen(accounts, id, (stored) => {
    const plan = changedPlan(stored.plan, settings.limits);
    if (isFault(plan)) return plan;
    return { ...stored, plan, dialect: settings.dialect ?? stored.dialect };
  });

/**
 * Closes a tenant. Writes the end of its runs first, so that a crash afterwards leaves no run of a closed tenant. Closes the
 * account before it removes the tokens, so that from then on no token authenticates a request, not even one that is being made.
 */
async function close(ports: ManagementPorts, id: string): Promise<Fault | undefined> {
  const { accounts, indexes, clock } = ports;
  const tenant = await findTenant(accounts, id);
  if (isFault(tenant)) return tenant;
  let owned = 0;
  for await (const page of indexPages(indexes))
    owned += page.filter(({ owner }) => owner === id).length;
  if (owned > 0) return fault("conflict", `tenant ${id} owns search indexes: ${owned}`);
  await cancelRunsSoon(ports, tenant.id);
  const closed = await changeOpen(accounts, id, (tenant) => ({ ...tenant, closedAt: clock.now() }));
  if (isFault(closed)) return closed;
  for (const { hash } of await accounts.tokensOf(closed.id)) await accounts.removeToken(hash);
  return undefined;
}
