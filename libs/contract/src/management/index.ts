/** The endpoints of the management API, which has its own listener and credentials. */
import { type SpecOf } from "../endpoints/endpoint.ts";
import { wholeAudit } from "./audit.ts";
import { searchIndexes } from "./search-indexes.ts";
import { tenantKeys } from "./tenant-keys.ts";
import { tenants } from "./tenants.ts";
import { tokens } from "./tokens.ts";

export const managementEndpoints = {
  ...searchIndexes,
  ...tenants,
  ...tokens,
  ...tenantKeys,
  ...wholeAudit,
};

type ManagementEndpoints = typeof managementEndpoints;
export type ManagementOperationId = keyof ManagementEndpoints;
export type ManagementSpecs = {
  readonly [Id in ManagementOperationId]: SpecOf<ManagementEndpoints[Id]>;
};

const isOperationId = (text: string): text is ManagementOperationId =>
  Object.hasOwn(managementEndpoints, text);
export const managementOperationIds: readonly ManagementOperationId[] =
  Object.keys(managementEndpoints).filter(isOperationId);
