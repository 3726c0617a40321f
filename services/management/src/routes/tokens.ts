/** `/v2/tenants/{id}/tokens`: what lets a tenant in. A token is shown when it is made and never again. */
import { type NewTokenJson, parseCreateToken, type TokenJson } from "@posthaste/contract";
import { fault, type Fault, isFault } from "@posthaste/domain";
import { type Accounts, type Token } from "@posthaste/ports";
import { emptyReply, newToken, reply, type RoutedPath, tokenHash } from "@posthaste/runtime";
import { type Door, reads, type Visit, writes } from "../door.ts";
import { type ManagementPorts } from "../ports.ts";
import { findTenant } from "../tenants.ts";

const tokensPerTenantMax = 100;
/** Of its hash, 96 bits: no two tokens share them. */
const tokenIdLength = 16;

export const tokenRoutes = (door: Door, ports: ManagementPorts): readonly RoutedPath[] => [
  {
    path: "/v2/tenants/:id/tokens",
    methods: {
      GET: reads(door, async ({ param }) => {
        const tokens = await tokensOf(ports.accounts, param("id"));
        return isFault(tokens) ? tokens : reply(tokens.toSorted(byAge).map(tokenJson));
      }),
      POST: writes(door, (visit) => create(ports, visit)),
    },
  },
  {
    path: "/v2/tenants/:id/tokens/:tokenId",
    methods: { DELETE: writes(door, (visit) => revoke(ports, visit)) },
  },
];

async function tokensOf(accounts: Accounts, id: string): Promise<readonly Token[] | Fault> {
  const tenant = await findTenant(accounts, id);
  if (isFault(tenant)) return tenant;
  return (await accounts.tokens()).filter((token) => token.tenant === tenant.id);
}

const byAge = (a: Token, b: Token): number => (a.createdAt ?? 0) - (b.createdAt ?? 0);

const tokenIdOf = ({ hash }: Token): string => hash.slice(0, tokenIdLength);

const tokenJson = (token: Token): TokenJson => ({
  id: tokenIdOf(token),
  scope: token.scope,
  ...(token.createdAt !== undefined && { createdAt: token.createdAt }),
});

async function create({ accounts, clock, random }: ManagementPorts, { param, body }: Visit) {
  const bytes = await body();
  if (isFault(bytes)) return bytes;
  const parsed = parseCreateToken(bytes);
  if (isFault(parsed)) return parsed;
  const tenant = await findTenant(accounts, param("id"));
  if (isFault(tenant)) return tenant;
  const tokens = await tokensOf(accounts, tenant.id);
  if (isFault(tokens)) return tokens;
  if (tokens.length >= tokensPerTenantMax)
    return fault("beyond_plan", `a tenant may have ${tokensPerTenantMax} tokens`);
  const text = newToken(tenant.id, random);
  const token: Token = {
    hash: tokenHash(text),
    tenant: tenant.id,
    scope: parsed.scope,
    createdAt: clock.now(),
  };
  await accounts.putToken(token);
  const shown: NewTokenJson = { ...tokenJson(token), token: text };
  return reply(shown, 201);
}

async function revoke({ accounts }: ManagementPorts, { param }: Visit) {
  const tokens = await tokensOf(accounts, param("id"));
  if (isFault(tokens)) return tokens;
  const token = tokens.find((known) => tokenIdOf(known) === param("tokenId"));
  if (!token) return fault("not_found", "token not found");
  await accounts.removeToken(token.hash);
  return emptyReply();
}
