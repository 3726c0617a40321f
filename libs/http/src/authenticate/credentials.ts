/** The formats of tokens and signing keys, and the public credentials. */
import { hash } from "node:crypto";
import { type Random, type SigningKeys } from "@posthaste/ports";

/** Returns the SHA-256 of the whole token in base64url, the only form in which a token is stored (docs/design/security#authentication). */
export const tokenHash = (token: string): string => hash("sha256", token, "base64url");

/**
 * A token's id is a prefix and 96 bits of its hash, which no two tokens share. The prefix keeps an id from looking like an option
 * on a command line, since a hash may begin with "-".
 */
const tokenIdPrefix = "tok_";
const tokenIdLength = 16;

/** Returns the id of a token, which names it and is not secret. `ofHash`: of its hash. */
export const tokenIdOf = (ofHash: string): string =>
  `${tokenIdPrefix}${ofHash.slice(0, tokenIdLength)}`;

const passwordLength = 32;
const signingKeyLength = 28;

/** Makes a token, `base64(JSON {UserID, Password})`: workflow clients read the user from it. */
export const newToken = (userId: string, random: Random): string =>
  Buffer.from(JSON.stringify({ UserID: userId, Password: random.text(passwordLength) })).toString(
    "base64",
  );

export const newSigningKey = (random: Random): string => `sig_${random.text(signingKeyLength)}`;

/** Returns the user and password inside a token of that form, or undefined for other tokens. */
export function userOf(token: string): { userId: string; password: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, "base64").toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const userId: unknown = "UserID" in value ? value.UserID : undefined;
  const password: unknown = "Password" in value ? value.Password : undefined;
  if (typeof userId !== "string" || typeof password !== "string" || userId === "") return undefined;
  return { userId, password };
}

export type DevelopmentUser = {
  readonly userId: string;
  readonly token: string;
  readonly keys: SigningKeys;
};

/**
 * The public credentials that SDKs contain for development mode (docs/design/security#development). The dev profile
 * adopts them, every other profile refuses them. The first is the default tenant's.
 */
export const developmentUsers = [
  {
    userId: "defaultUser",
    token: "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=",
    keys: {
      current: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r",
      next: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs",
    },
  },
  {
    userId: "testUser1",
    token: "eyJVc2VySUQiOiJ0ZXN0VXNlcjEiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9",
    keys: {
      current: "sig_7GVPjvuwsfqF65iC8fSrs1dfYruM",
      next: "sig_5NoELc3EFnZn4DVS5bDs2Nk4b7Ua",
    },
  },
  {
    userId: "testUser2",
    token: "eyJVc2VySUQiOiJ0ZXN0VXNlcjIiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9",
    keys: {
      current: "sig_6jWGaWRxHsw4vMSPJprXadyvrybF",
      next: "sig_7qHbvhmahe5GwfePDiS5Lg3pi6Qx",
    },
  },
  {
    userId: "testUser3",
    token: "eyJVc2VySUQiOiJ0ZXN0VXNlcjMiLCJQYXNzd29yZCI6InRlc3RQYXNzd29yZCJ9",
    keys: {
      current: "sig_5T8FcSsynBjn9mMLBsXhpacRovJf",
      next: "sig_7GFR4YaDshFcqsxWRZpRB161jguD",
    },
  },
] as const satisfies readonly DevelopmentUser[];

const publicSecrets: ReadonlySet<string> = new Set(
  developmentUsers.flatMap(({ token, keys }) => [token, keys.current, keys.next]),
);

export const isPublicSecret = (secret: string): boolean => publicSecrets.has(secret);
