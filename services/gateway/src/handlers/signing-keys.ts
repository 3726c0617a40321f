/** `/v2/keys`: the keys with which a tenant's deliveries are signed. */
import { keysJson, type signingKeys } from "@posthaste/contract";
import { fault, isFault } from "@posthaste/domain";
import { newSigningKey } from "@posthaste/http";
import { type Accounts, type Random, type Tenant } from "@posthaste/ports";
import { type Handlers } from "./handler.ts";

export type SigningKeyParts = {
  readonly accounts: Pick<Accounts, "changeTenant">;
  readonly random: Random;
  /** Reads the accounts again, so that the next request reads the rotated keys. */
  readonly refreshAccounts: () => Promise<void>;
};

export function signingKeyHandlers(parts: SigningKeyParts): Handlers<keyof typeof signingKeys> {
  const rotate = async ({ tenant }: { readonly tenant: Tenant }) => {
    const fresh = newSigningKey(parts.random);
    const changed = await parts.accounts.changeTenant(tenant.id, (stored) =>
      stored.closedAt === undefined
        ? { ...stored, keys: { current: stored.keys.next, next: fresh } }
        : closed,
    );
    if (changed === undefined || isFault(changed)) return closed;
    // A failed refresh is ignored, since the keys are rotated: a caller that repeated the rotation would lose the key that its
    // receivers hold. This process reads the keys soon.
    await parts.refreshAccounts().catch(() => undefined);
    return { status: 200, json: keysJson(changed.keys) } as const;
  };
  return {
    readKeys: async ({ tenant }) => ({ status: 200, json: keysJson(tenant.keys) }),
    rotateKeys: rotate,
    rotateKeysByItsOlderPath: rotate,
  };
}

const closed = fault("unauthorized", "the tenant of this token is closed");
