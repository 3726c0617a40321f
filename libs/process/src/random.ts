import { randomFillSync } from "node:crypto";
import { type Random } from "@posthaste/ports";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 in a byte: bytes from here on are thrown away, so that all characters are equally likely. */
const rejectFrom = 248;
const poolBytes = 16 * 1024;

/** Chance from the system's cryptographic source, drawn in pools: a draw per id would cost ten times as much. */
export function systemRandom(): Random {
  const pool = new Uint8Array(poolBytes);
  let at = poolBytes;

  return {
    text: (length) => {
      let text = "";
      // Ends: a byte is rejected with a chance of 8 in 256.
      while (text.length < length) {
        if (at === poolBytes) {
          randomFillSync(pool);
          at = 0;
        }
        const byte = pool[at++] ?? rejectFrom;
        if (byte < rejectFrom) text += alphabet.charAt(byte % alphabet.length);
      }
      return text;
    },
    // Jitter need not be unguessable.
    fraction: Math.random,
  };
}
