/** A token by OAuth 2.0 client credentials (RFC 6749, section 4.4), as OpenID providers issue them to programs. */
import { type Clock } from "@posthaste/ports";
import { answered, membersOf } from "./answered.ts";
import { type Token } from "./token.ts";

export type ClientCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
};

export async function askForToken(given: ClientCredentials, clock: Clock): Promise<Token> {
  const { tokenUrl, clientId, clientSecret, scope } = given;
  const user = [clientId, clientSecret].map(encodeURIComponent).join(":");
  const { status, text } = await answered(
    tokenUrl,
    {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(user).toString("base64")}`,
        accept: "application/json",
      },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        ...(scope !== undefined && { scope }),
      }),
    },
    clock,
  );
  const { access_token: value, expires_in: seconds, error } = membersOf(text);
  if (status !== okStatus)
    throw new Error(
      `${tokenUrl} answers ${status}${typeof error === "string" ? `, ${error}` : ""}`,
    );
  if (typeof value !== "string" || !bearer.test(value))
    throw new Error(`${tokenUrl} answers without an access_token`);
  return { value, lifeMs: msOf(seconds) };
}

const okStatus = 200;
/** The characters of a token by RFC 6750, section 2.1. No others may be in the message to the broker. */
const bearer = /^[A-Za-z0-9._~+/-]+=*$/;
/** The assumed life of a token that names none; most live for longer. */
const lifeMsDefault = 300_000;
const lifeMsMax = 86_400_000;

/** Parses a number of seconds, which some issuers write as text. */
function msOf(seconds: unknown): number {
  const ms = Number(seconds) * 1_000;
  return ms > 0 ? Math.min(ms, lifeMsMax) : lifeMsDefault;
}
