/** Makes sign-in by a provider from the settings of a service. Each function returns undefined if no group is let in. */
import { type GroupRight, type OperatorRole } from "@posthaste/domain";
import { type IdentityProvider, type ProviderSignIn } from "@posthaste/http";
import { createOidcProvider } from "./provider.ts";

type OidcConfig = {
  readonly oidcIssuer?: string | undefined;
  readonly oidcClientId?: string | undefined;
  readonly oidcClientSecret?: string | undefined;
  readonly oidcScopes: string;
  readonly oidcGroupsClaim: string;
};

type TenantConfig = OidcConfig & {
  readonly consoleUrl?: string | undefined;
  readonly oidcTenants?: readonly (readonly [group: string, GroupRight])[] | undefined;
};

type OperatorConfig = OidcConfig & {
  readonly managementConsoleUrl?: string | undefined;
  readonly oidcOperators?: readonly (readonly [group: string, OperatorRole])[] | undefined;
};

export function tenantSignIn(config: TenantConfig): ProviderSignIn<GroupRight> | undefined {
  const { consoleUrl, oidcTenants } = config;
  const provider = providerOf(config);
  if (!provider || consoleUrl === undefined || !oidcTenants) return undefined;
  return { provider, consoleUrl, groups: new Map(oidcTenants) };
}

export function operatorSignIn(config: OperatorConfig): ProviderSignIn<OperatorRole> | undefined {
  const { managementConsoleUrl: consoleUrl, oidcOperators } = config;
  const provider = providerOf(config);
  if (!provider || consoleUrl === undefined || !oidcOperators) return undefined;
  return { provider, consoleUrl, groups: new Map(oidcOperators) };
}

function providerOf(config: OidcConfig): IdentityProvider | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  const { oidcGroupsClaim: groupsClaim, oidcScopes: scopes } = config;
  return createOidcProvider({ issuer, clientId, clientSecret, scopes, groupsClaim });
}
