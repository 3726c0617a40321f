/** Tenants as an operator sees them: closed tenants do not exist. */
import { fault, type Fault, tenantId } from "@posthaste/domain";
import { type Accounts, type Tenant } from "@posthaste/ports";

export const isOpen = ({ closedAt }: Tenant): boolean => closedAt === undefined;

export async function findTenant(accounts: Accounts, id: string): Promise<Tenant | Fault> {
  const tenant = await accounts.tenant(tenantId(id));
  return tenant && isOpen(tenant) ? tenant : unknownTenant(id);
}

export async function changeOpen(
  accounts: Accounts,
  id: string,
  change: (tenant: Tenant) => Tenant | Fault,
): Promise<Tenant | Fault> {
  const changed = await accounts.changeTenant(tenantId(id), (tenant) =>
    isOpen(tenant) ? change(tenant) : unknownTenant(id),
  );
  return changed ?? unknownTenant(id);
}

const shownLengthMax = 128;

const unknownTenant = (id: string): Fault =>
  fault("not_found", `tenant ${id.slice(0, shownLengthMax)} not found`);
