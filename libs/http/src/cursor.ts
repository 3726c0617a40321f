/**
 * Cursors of lists: a position in a tenant's list, signed, so that it comes back unchanged, from the same tenant, for
 * the same filter, within the hour (docs/design/wire#lists-and-cursors).
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { fault, type Fault, isOver, type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

/** The list that a position belongs to. `filter` is any text that tells lists apart: the list's name and the requested filter. */
type CursorScope = { readonly tenant: TenantId; readonly filter: string };

export type Cursors = {
  seal(scope: CursorScope, position: string): string;
  /** Returns the position, or fault `malformed` with the same text whatever is wrong. */
  open(scope: CursorScope, cursor: string): string | Fault;
};

const version = 1;
const lifetimeMs = 3_600_000;
const signatureBytes = 16;
const cursorLengthMax = 4_096;

/** `secret` belongs to the installation and is the same in all its processes (`Accounts.secret`). */
export function createCursors({ secret, clock }: { secret: string; clock: Clock }): Cursors {
  const sign = (payload: Uint8Array): Buffer =>
    createHmac("sha256", secret).update(payload).digest().subarray(0, signatureBytes);

  return {
    seal: ({ tenant, filter }, position) => {
      const expiresAt = clock.now() + lifetimeMs;
      const fields = [version, tenant, position, filterHash(filter), expiresAt];
      const payload = Buffer.from(JSON.stringify(fields));
      return Buffer.concat([sign(payload), payload]).toString("base64url");
    },
    open: ({ tenant, filter }, cursor) => {
      const payload = verified(cursor, sign);
      if (!payload) return notOurs;
      const fields: unknown = JSON.parse(payload.toString());
      if (!Array.isArray(fields)) return notOurs;
      const [itsVersion, itsTenant, position, itsFilter, expiresAt] = fields.map(
        (field: unknown) => field,
      );
      return itsVersion === version &&
        itsTenant === tenant &&
        itsFilter === filterHash(filter) &&
        typeof expiresAt === "number" &&
        !isOver(expiresAt, lifetimeMs, clock.now()) &&
        typeof position === "string"
        ? position
        : notOurs;
    },
  };
}

const notOurs = fault("malformed", "cursor: not a cursor of this list, or older than an hour");

/**
 * Returns the payload if it was signed here. The decoded bytes are encoded again and compared: base64 has several texts for the same
 * bytes.
 */
function verified(cursor: string, sign: (payload: Uint8Array) => Uint8Array): Buffer | undefined {
  if (cursor.length > cursorLengthMax) return undefined;
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length <= signatureBytes || bytes.toString("base64url") !== cursor) return undefined;
  const payload = bytes.subarray(signatureBytes);
  return timingSafeEqual(bytes.subarray(0, signatureBytes), sign(payload)) ? payload : undefined;
}

const filterHash = (filter: string): string => hash("sha256", filter, "base64url");
