/**
 * Notes in the store which tokens were used. Owns the hashes of tokens used since the last note: a use costs a request one insert into
 * a set, and all uses of a minute are one write. A process that dies forgets the uses of its last minute.
 */
import { type Accounts, type Clock, type Log, type Service } from "@posthaste/ports";

type TokenUsesParts = {
  readonly accounts: Pick<Accounts, "noteUses">;
  readonly clock: Clock;
  readonly log: Log;
};

export type TokenUses = Pick<Service, "start" | "stop"> & { readonly add: (hash: string) => void };

const noteEveryMs = 60_000;
const hashesPerWriteMax = 1_000;

export function createTokenUses({ accounts, clock, log }: TokenUsesParts): TokenUses {
  /** Bounded by the number of tokens. */
  const used = new Set<string>();
  let isStopped = false;
  let callOff = (): void => undefined;

  function noteLater(): void {
    if (isStopped) return;
    callOff = clock.after(noteEveryMs, () => void note().finally(noteLater));
  }

  /** Never rejects: uses that cannot be noted now are noted with the next ones. */
  async function note(): Promise<void> {
    const at = clock.now();
    const hashes = [...used];
    used.clear();
    for (let from = 0; from < hashes.length; from += hashesPerWriteMax) {
      try {
        await accounts.noteUses(hashes.slice(from, from + hashesPerWriteMax), at);
      } catch (error) {
        for (const hash of hashes.slice(from)) used.add(hash);
        log.warn("token.uses_not_noted", { error });
        return;
      }
    }
  }

  return {
    add: (hash) => void used.add(hash),
    start: async () => noteLater(),
    stop: async () => {
      isStopped = true;
      callOff();
      await note();
    },
  };
}
