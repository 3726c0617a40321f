/** The client of the management API, which has a listener and credentials of its own. */
import { managementRoutes } from "./api.ts";
import { methodsOf } from "./client.ts";
import { type Methods } from "./operations.ts";
import { overFetch } from "./over-fetch.ts";
import { createTransport, type Exchange, type TransportOptions } from "./transport.ts";

type Routes = typeof managementRoutes;

const resources = {
  tenants: {
    list: "listTenants",
    create: "createTenant",
    read: "readTenant",
    change: "changeTenant",
    close: "closeTenant",
  },
  tokens: { list: "listTokens", create: "createToken", revoke: "revokeToken" },
  tenantKeys: { read: "readTenantKeys", rotate: "rotateTenantKeys" },
  audit: { list: "listAllChanges" },
  searchIndexes: {
    list: "listSearchIndexes",
    enter: "enterSearchIndex",
    read: "readSearchIndex",
    strike: "strikeSearchIndex",
    rotateTokens: "rotateSearchIndexTokens",
    reportThroughput: "reportThroughput",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, keyof Routes>>>>;

export type Management = {
  readonly [Name in keyof typeof resources]: Methods<Routes, (typeof resources)[Name]>;
} & { close(): void };

export type ManagementOptions = Omit<TransportOptions, "authorization"> & {
  readonly user: string;
  readonly password: string;
};

export const createManagement = (options: ManagementOptions): Management =>
  managementOver(options, overFetch());

export function managementOver(
  { user, password, ...options }: ManagementOptions,
  exchange: Exchange,
): Management {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  const authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`;
  const transport = createTransport({ ...options, authorization }, exchange);
  const management = {
    ...methodsOf(resources, managementRoutes, transport),
    close: transport.close,
  };
  return management as Management;
}
