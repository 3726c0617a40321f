/**
 * The token that is presented to the brokers, renewed before it ends.
 *
 * (1) one request is under way at a time, whichever connections wait for it.
 * (2) an issuer that fails is not called for a while, twice as long each time. Meanwhile the last token is presented
 *     for as long as it is valid, and then the connection fails with the reason.
 * (3) a token that a broker refuses is not presented again.
 */
import { type Clock } from "@posthaste/ports";

export type Token = { readonly value: string; readonly lifeMs: number };

export type TokenSource = {
  readonly show: () => Promise<string>;
  readonly refused: (value: string, error: Error) => void;
};

/** How long before its end a token is replaced; after half of its life where that is shorter than twice this. */
const spareMsMax = 60_000;
const waitMsMin = 1_000;
const waitMsMax = 30_000;
const refusedWaitMs = 5_000;

const none = { value: "", renewAt: Number.NEGATIVE_INFINITY, endsAt: Number.NEGATIVE_INFINITY };

export function keptToken(ask: () => Promise<Token>, clock: Clock): TokenSource {
  let token = none;
  let failures = 0;
  let askAgainAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let asking: Promise<void> | undefined;

  const failed = (error: unknown, waitMs: number): void => {
    failure = error;
    askAgainAt = clock.passedMs() + waitMs;
  };

  const renew = async (): Promise<void> => {
    // The token's life begins with the request, not with the answer.
    const askedAt = clock.passedMs();
    try {
      const { value, lifeMs } = await ask();
      if (lifeMs <= 0) throw new Error("the issued token has already expired");
      const endsAt = askedAt + lifeMs;
      token = { value, renewAt: endsAt - Math.min(spareMsMax, lifeMs / 2), endsAt };
      failures = 0;
    } catch (error) {
      failed(error, Math.min(waitMsMin * 2 ** Math.min(failures++, 10), waitMsMax));
    }
  };

  return {
    show: async () => {
      const now = clock.passedMs();
      if (now >= token.renewAt && now >= askAgainAt) {
        asking ??= renew().finally(() => (asking = undefined));
        await asking;
      }
      if (clock.passedMs() < token.endsAt) return token.value;
      const reason = Error.isError(failure) ? failure.message : String(failure);
      throw new Error(`no token for the brokers: ${reason}`, { cause: failure });
    },
    refused: (value, error) => {
      if (value !== token.value) return;
      token = none;
      failed(error, refusedWaitMs);
    },
  };
}
