/** Claims records and renews claims (docs/design/record#claims-leases-epochs). */
import {
  claim,
  type InState,
  isClaimable,
  limits,
  type MessageId,
  type Owner,
  leaseNow,
} from "@posthaste/domain";
import { type ClaimRef } from "@posthaste/ports";
import { type Reading, type PositionedRecord } from "./read.ts";
import { stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

export type Claiming = {
  readonly claim: (ids: readonly MessageId[], owner: Owner) => readonly InState<"claimed">[];
  /** Returns the ids whose claim is lost. */
  readonly renew: (claims: readonly ClaimRef[]) => readonly MessageId[];
};

export function openClaiming(
  { claimed: claims, db, clock, names, recent, writer }: Store,
  reading: Reading,
): Claiming {
  const write = db.prepare(`
    UPDATE messages SET state = ${stateCodes.claimed}, until = ?, hints = 0, wake_at = ?, epoch = ?, owner = ?, lease_losses = ?
    WHERE position = ? AND epoch = ? AND state = ?`);
  const renew = db.prepare(`
    UPDATE messages SET until = ?, hints = ?, wake_at = iif(outbox > 0, min(wake_at, ?), ?)
    WHERE position = ? AND name = ? AND epoch = ? AND state = ${stateCodes.claimed} AND until > ?`);

  /** Returns undefined when the record may not be claimed, or has changed. */
  const take = (
    { position, record }: PositionedRecord,
    owner: Owner,
    now: number,
  ): InState<"claimed"> | undefined => {
    if (!isClaimable(record, now, clock.setAheadMs())) return undefined;
    const claimed = claim(record, owner, now);
    const { leaseUntil } = claimed.state;
    const { changes } = write.run(
      leaseUntil,
      claimed.wakeAt ?? leaseUntil,
      claimed.epoch,
      owner,
      claimed.leaseLosses,
      position,
      record.epoch,
      stateCodes[record.state.kind],
    );
    if (changes === 0) return undefined;
    claims.add(position);
    writer.onCommit(() => recent.drop(position));
    return claimed;
  };

  return {
    claim: (ids, owner) => {
      const now = clock.now();
      return ids.flatMap((id) => {
        const inserted = reading.recent(id);
        const claimed = inserted && take(inserted, owner, now);
        if (claimed) return [claimed];
        const found = reading.sound(id);
        return (found && take(found, owner, now)) ?? [];
      });
    },
    renew: (claims) => {
      const now = clock.now();
      const heldFrom = leaseNow(now, clock.setAheadMs());
      const until = now + limits.leaseMs;
      return claims.flatMap(({ id, epoch, begins }) => {
        const address = names.find(id);
        const held =
          address &&
          renew.run(
            until,
            begins ? 0 : 1,
            until,
            until,
            address.position,
            address.name,
            epoch,
            heldFrom,
          ).changes === 1;
        return held ? [] : [id];
      });
    },
  };
}
