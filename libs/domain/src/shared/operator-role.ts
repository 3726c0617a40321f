/** The roles of operators at management. Each role may do there what a scope may do at the gateway. */
import { fault, type Fault } from "./fault.ts";
import { type Operation, scopesFor, type TokenScope } from "./token-scope.ts";

/**
 * A `viewer` reads everything except signing keys and the tokens of search indexes. An `operator` also retries,
 * pauses, resumes and cancels. An `admin` does everything.
 */
export type OperatorRole = (typeof operatorRoles)[number];

/** The roles, the widest first. */
export const operatorRoles = ["admin", "operator", "viewer"] as const;

const scopeOf = {
  admin: "full",
  operator: "operate",
  viewer: "read",
} as const satisfies Record<OperatorRole, TokenScope>;

/** Returns the roles that may do an operation, the widest first. */
export function rolesFor(operation: Operation): readonly OperatorRole[] {
  const scopes = scopesFor(operation);
  return operatorRoles.filter((role) => scopes.includes(scopeOf[role]));
}

/** Refuses an operation that an operator of this role may not do, and names the roles that may. */
export function refusalOfRole(held: OperatorRole, operation: Operation): Fault | undefined {
  const needed = rolesFor(operation);
  if (needed.includes(held)) return undefined;
  return fault("forbidden", `this needs the role ${needed.join(" or ")}; this operator is ${held}`);
}
