/** `/v2/tenants`: who may use Posthaste, and how much. */
import {
  parseChangeTenant,
  parseCreateTenant,
  planJson,
  type TenantJson,
} from "@posthaste/contract";
import { defaultPlan, fault, type Fault, isFault } from "@posthaste/domain";
import { type Tenant } from "@posthaste/ports";
import { emptyReply, newSigningKey, reply, type RoutedPath } from "@posthaste/runtime";
import { type Door, reads, type Visit, writes } from "../door.ts";
import { changedPlan } from "../plan.ts";
import { changeOpen, findTenant, isOpen } from "../tenants.ts";
import { type ManagementPorts } from "../ports.ts";

/** Every service reads them all every few seconds. Closed ones count, since they stay. */
const tenantsMax = 10_000;

export const tenantRoutes = (door: Door, ports: ManagementPorts): readonly RoutedPath[] => [
  {
    path: "/v2/tenants",
    methods: {
      GET: reads(door, async () =>
        reply((await ports.accounts.tenants()).filter(isOpen).map(tenantJson)),
      ),
      POST: writes(door, (visit) => create(ports, visit)),
    },
  },
  {
    path: "/v2/tenants/:id",
    methods: {
      GET: reads(door, async ({ param }) => {
        const tenant = await findTenant(ports.accounts, param("id"));
        return isFault(tenant) ? tenant : reply(tenantJson(tenant));
      }),
      PATCH: writes(door, (visit) => change(ports, visit)),
      DELETE: writes(door, ({ param }) => close(ports, param("id"))),
    },
  },
];

const tenantJson = ({ id, dialect, plan }: Tenant): TenantJson => ({
  id,
  dialect,
  plan: planJson(plan),
});

async function create({ accounts, random }: ManagementPorts, { body }: Visit) {
  const bytes = await body();
  if (isFault(bytes)) return bytes;
  const settings = parseCreateTenant(bytes);
  if (isFault(settings)) return settings;
  const { id, dialect = "service", limits } = settings;
  const plan = changedPlan(defaultPlan, limits);
  if (isFault(plan)) return plan;
  if ((await accounts.tenants()).length >= tenantsMax)
    return fault("beyond_plan", `there are ${tenantsMax} tenants already, closed ones included`);
  const keys = { current: newSigningKey(random), next: newSigningKey(random) };
  const tenant: Tenant = { id, dialect, plan, keys };
  return (await accounts.addTenant(tenant)) ? reply(tenantJson(tenant), 201) : taken(id);
}

const taken = (id: string): Fault =>
  fault("conflict", `id: ${id} is a tenant's, or was one's that is closed`);

async function change({ accounts }: ManagementPorts, { param, body }: Visit) {
  const bytes = await body();
  if (isFault(bytes)) return bytes;
  const settings = parseChangeTenant(bytes);
  if (isFault(settings)) return settings;
  const tenant = await changeOpen(accounts, param("id"), (stored) => {
    const plan = changedPlan(stored.plan, settings.limits);
    if (isFault(plan)) return plan;
    return { ...stored, plan, dialect: settings.dialect ?? stored.dialect };
  });
  return isFault(tenant) ? tenant : reply(tenantJson(tenant));
}

/** The account is closed first: from then on its tokens prove nothing, also one that is being made just now. */
async function close({ accounts, indexes, clock }: ManagementPorts, id: string) {
  const owned = (await indexes.list()).filter(({ owner }) => owner === id);
  if (owned.length > 0)
    return fault("conflict", `tenant ${id} owns search indexes: ${owned.length}`);
  const closed = await changeOpen(accounts, id, (tenant) => ({ ...tenant, closedAt: clock.now() }));
  if (isFault(closed)) return closed;
  for (const { hash, tenant } of await accounts.tokens())
    if (tenant === closed.id) await accounts.removeToken(hash);
  return emptyReply();
}
