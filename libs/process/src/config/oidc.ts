/** Signing in to the console by an OpenID provider: off until a group is let in. */
import {
  type GroupRight,
  type OperatorRole,
  operatorRoles,
  tenantId,
  tokenScopeFrom,
} from "@posthaste/domain";
import { z } from "zod";
import { environmentName, type Rule, variables } from "./variable.ts";
import { httpsUrl, httpsUrlRule, printable } from "./values.ts";

const subject = "Console";
const lengthMax = 4_096;
const groupsMax = 256;

const consoleUrl = () => httpsUrl((url) => url.pathname.endsWith("/console/")).optional();
const consoleRule =
  "an https:// address that ends in /console/, or http:// of this machine, without user, query and fragment";

const entries = () =>
  z
    .string()
    .max(lengthMax)
    .transform((text) => text.split(",").map((each) => each.trim()))
    .refine((each) => each.length <= groupsMax && each.every((one) => one !== ""));

const right = /^([^=]+)=([A-Za-z0-9_-]{1,64})(?::(operate|read))?$/;

const namesEachOnce = (each: readonly (readonly [group: string, unknown])[]): boolean =>
  new Set(each.map(([group]) => group)).size === each.length;

const tenants = () =>
  entries()
    .refine((each) => each.every((one) => right.test(one)))
    .transform((each) =>
      each.map((one): readonly [group: string, GroupRight] => {
        const [, group = "", tenant = "", scope = "full"] = right.exec(one) ?? [];
        return [group.trim(), { tenant: tenantId(tenant), scope: tokenScopeFrom(scope) }];
      }),
    )
    .refine(namesEachOnce)
    .optional();

/** Returns group and role. A group without a role is let in as admin. */
const roleOf = (one: string): readonly [group: string, OperatorRole] => {
  const at = one.lastIndexOf("=");
  const role = operatorRoles.find((each) => each === one.slice(at + 1).trim());
  return at > 0 && role ? [one.slice(0, at).trim(), role] : [one, "admin"];
};

const operators = () =>
  entries()
    .transform((each) => each.map(roleOf))
    .refine(namesEachOnce)
    .optional();

export const oidcShape = {
  oidcIssuer: httpsUrl().optional().register(variables, {
    subject,
    rule: httpsUrlRule,
    summary:
      "The issuer of the OpenID provider by which people sign in to the console, exactly as the provider publishes it under `/.well-known/openid-configuration`.",
  }),
  oidcClientId: printable(1, 512, {
    subject,
    summary: "The id under which the provider knows this installation.",
  }).optional(),
  oidcClientSecret: printable(1, 1_024, {
    subject,
    secret: true,
    summary: "The secret of that id. Not set: a public client, which PKCE alone protects.",
  }).optional(),
  oidcScopes: z
    .string()
    .max(512)
    .regex(/^([\x21\x23-\x5b\x5d-\x7e]+ )*openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/)
    .register(variables, {
      subject,
      rule: "scopes separated by single spaces, openid among them",
      summary:
        "The scopes to ask the provider for. Some providers return groups only if a scope asks for them.",
      default: "openid",
    }),
  oidcGroupsClaim: printable(1, 256, {
    subject,
    summary:
      "The claim that holds a user's groups, as a list or one text, in the ID token or in the provider's answer about the user.",
    default: "groups",
  }),
};

export const oidcTenantsShape = {
  consoleUrl: consoleUrl().register(variables, {
    subject,
    rule: consoleRule,
    summary:
      "The address of the console as browsers have it. The provider redirects to `sign-in/back` below it.",
  }),
  oidcTenants: tenants().register(variables, {
    subject,
    rule: "group=tenant, group=tenant:operate or group=tenant:read, separated by commas, each group once",
    summary:
      "The groups that may sign in as a tenant: with all rights, with `:operate` to read, retry, pause and cancel, or with `:read` to read only. For a user in several groups the first of this list counts. Not set: no sign-in to a tenant's console by the provider.",
  }),
};

export const oidcOperatorsShape = {
  managementConsoleUrl: consoleUrl().register(variables, {
    subject,
    rule: consoleRule,
    summary:
      "The address of the operator's console as browsers have it. The provider redirects to `sign-in/back` below it.",
  }),
  oidcOperators: operators().register(variables, {
    subject,
    rule: "group, or group=role with the role admin, operator or viewer, separated by commas, each group once",
    summary:
      "The groups that may sign in as operators, as admin if no role is given. For a user in several groups the first of this list counts. Not set: no sign-in to the operator's console by the provider.",
  }),
};

/** A list of groups requires the provider and the console's address. */
const wanting = (groups: string, url: string): Rule => {
  const needed = ["oidcIssuer", "oidcClientId", url];
  return {
    keys: [groups, ...needed],
    problemsOf: (_, texts) =>
      texts[groups] === undefined
        ? []
        : needed
            .filter((key) => texts[key] === undefined)
            .map(
              (key) => `${environmentName(key)} is not set: ${environmentName(groups)} requires it`,
            ),
  };
};

export const oidcRules: readonly Rule[] = [
  wanting("oidcTenants", "consoleUrl"),
  wanting("oidcOperators", "managementConsoleUrl"),
  {
    keys: ["oidcIssuer", "oidcTenants", "oidcOperators"],
    problemsOf: (_, { oidcIssuer, oidcOperators, oidcTenants }) =>
      oidcIssuer !== undefined && oidcOperators === undefined && oidcTenants === undefined
        ? [
            "POSTHASTE_OIDC_ISSUER is set without any group: set POSTHASTE_OIDC_TENANTS or POSTHASTE_OIDC_OPERATORS",
          ]
        : [],
  },
];
