/** The roles that may do each operation of management. An operation without a row does not compile. */
import { describe, expect, it } from "@jest/globals";
import { operatorRoles, refusalOfRole, rolesFor } from "@posthaste/domain";
import { managementEndpoints, type ManagementOperationId } from "./management/index.ts";

const reading = ["admin", "operator", "viewer"] as const;
const acting = ["admin", "operator"] as const;
const admin = ["admin"] as const;

const roles = {
  listTenants: reading,
  createTenant: admin,
  readTenant: reading,
  changeTenant: admin,
  closeTenant: admin,
  listTokens: reading,
  createToken: admin,
  revokeToken: admin,
  readTenantKeys: admin,
  rotateTenantKeys: admin,
  listAllChanges: reading,
  listSearchIndexes: admin,
  enterSearchIndex: admin,
  readSearchIndex: admin,
  strikeSearchIndex: admin,
  rotateSearchIndexTokens: admin,
  reportThroughput: acting,
} as const satisfies Readonly<Record<ManagementOperationId, readonly string[]>>;

describe("the role of an operator", () => {
  it.each(Object.entries(managementEndpoints))(
    "decides on %s as the table says",
    (operation, { kind }) => {
      const may = Object.entries(roles).find(([id]) => id === operation)?.[1] ?? [];

      expect(rolesFor({ kind })).toEqual(may);
      for (const held of operatorRoles)
        expect(refusalOfRole(held, { kind })).toEqual(
          may.some((role) => role === held)
            ? undefined
            : {
                fault: "forbidden",
                text: `this needs the role ${may.join(" or ")}; this operator is ${held}`,
              },
        );
    },
  );
});
