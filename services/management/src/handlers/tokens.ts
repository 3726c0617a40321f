/** `/v2/tenants/{id}/tokens`: the tokens of a tenant. A token is shown once, when it is made. */
import { type CreateToken, type TokenJson, type tokens } from "@posthaste/contract";
import { fault, type Fault, isFault, tenantId, tokenScopeFrom } from "@posthaste/domain";
import { type Accounts, type Token } from "@posthaste/ports";
import { newToken, tokenHash, tokenIdOf } from "@posthaste/http";
import { type ManagementPorts } from "../ports.ts";
import { findTenant } from "../tenants.ts";
import { type Handlers } from "./handler.ts";

const tokensPerTenantMax = 100;
export const tokenHandlers = (ports: ManagementPorts): Handlers<keyof typeof tokens> => ({
  listTokens: async ({ param }) => ({
    status: 200,
    read: async () => {
      const all = await tokensOf(ports.accounts, param("id"));
      return isFault(all) ? all : { json: all.toSorted(byAge).map(tokenJson) };
    },
  }),
  createToken: async ({ param, body }) => {
    const made = await create(ports, param("id"), body);
    if (isFault(made)) return made;
    return { status: 201, json: { ...tokenJson(made.token), token: made.text } };
  },
  revokeToken: async ({ param }) =>
    (await revoke(ports, param("id"), param("tokenId"))) ?? { status: 200 },
});

async function tokensOf(accounts: Accounts, id: string): Promise<readonly Token[] | Fault> {
  const tenant = await findTenant(accounts, id);
  if (isFault(tenant)) return tenant;
  return accounts.tokensOf(tenant.id);
}

const byAge = (a: Token, b: Token): number => (a.createdAt ?? 0) - (b.createdAt ?? 0);

const tokenJson = (token: Token): TokenJson => ({
  id: tokenIdOf(token.hash),
  scope: token.scope,
  ...(token.name !== undefined && { name: token.name }),
  ...(token.createdAt !== undefined && { createdAt: token.createdAt }),
  ...(token.expiresAt !== undefined && { expiresAt: token.expiresAt }),
  ...(token.usedAt !== undefined && { lastUsedAt: token.usedAt }),
});

async function create(
  { accounts, clock, random }: ManagementPorts,
  id: string,
  { scope, name, expiresAt }: CreateToken,
): Promise<{ readonly token: Token; readonly text: string } | Fault> {
  const createdAt = clock.now();
  if (expiresAt !== undefined && expiresAt <= createdAt)
    return fault("malformed", "expiresAt: must be in the future, in Unix milliseconds");
  const all = await tokensOf(accounts, id);
  if (isFault(all)) return all;
  if (all.length >= tokensPerTenantMax)
    return fault("beyond_plan", `a tenant may have at most ${tokensPerTenantMax} tokens`);
  const tenant = tenantId(id);
  const text = newToken(tenant, random);
  const token: Token = {
    hash: tokenHash(text),
    tenant,
    scope: tokenScopeFrom(scope),
    createdAt,
    ...(name !== undefined && { name }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
  await accounts.putToken(token);
  return { token, text };
}

async function revoke(
  { accounts }: ManagementPorts,
  id: string,
  tokenId: string,
): Promise<Fault | undefined> {
  const all = await tokensOf(accounts, id);
  if (isFault(all)) return all;
  const token = all.find((known) => tokenIdOf(known.hash) === tokenId);
  if (!token) return fault("not_found", "token not found");
  await accounts.removeToken(token.hash);
  return undefined;
}
