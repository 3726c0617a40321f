/**
 * SASL OAUTHBEARER (RFC 7628) for kafkajs. The mechanism of kafkajs takes a broker's refusal for consent, and then
 * reports that the connection was closed.
 */
import { type Mechanism } from "kafkajs";
import { type TokenSource } from "./token.ts";

export function bearer({ show, refused }: TokenSource): Mechanism {
  return {
    mechanism: "oauthbearer",
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const token = await show();
        const refusal = await saslAuthenticate({
          request: { encode: () => framed(`n,,\u0001auth=Bearer ${token}\u0001\u0001`) },
          response: {
            decode: (raw) => raw.subarray(lengthBytes),
            parse: (bytes) => bytes.toString("utf8", 0, refusalBytesMax),
          },
        });
        if (!refusal) return;
        const error = new Error(`the brokers refuse the token: ${refusal}`);
        refused(token, error);
        throw error;
      },
    }),
  };
}

const lengthBytes = 4;
/** A refusal is a word or two in JSON. */
const refusalBytesMax = 1_024;

function framed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(lengthBytes);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
