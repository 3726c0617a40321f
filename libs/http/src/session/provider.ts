/** Signing in by an identity provider: its port, and how an attempt is tied to the browser that began it. */
import { hash } from "node:crypto";

/** An attempt to sign in. `state` and `nonce` are sent to the provider and must come back. */
export type Attempt = {
  /** The address that the provider leads back to. */
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
};

export type IdentityProvider = {
  readonly issuer: string;
  /** Returns the address at the provider where a person signs in. Throws if the provider does not answer. */
  addressOf(attempt: Attempt): Promise<string>;
  /** Returns the groups of the person that has signed in. `came` is the address that the provider has led back to. */
  groupsOf(attempt: Attempt, came: URL): Promise<readonly string[] | SignInRefusal>;
};

/** `why` is for the log, and contains nothing that came from outside. */
export type SignInRefusal = { readonly refused: "refused" | "away"; readonly why: string };

/**
 * Derives an attempt from its seed. The browser keeps the seed in a cookie; the derived values leave with the attempt and do not reveal
 * it.
 */
export function attemptOf(seed: string, redirectUri: string): Attempt {
  const derived = (what: string): string => hash("sha256", `${what} ${seed}`, "base64url");
  const [state, nonce, verifier] = ["state", "nonce", "verifier"].map(derived);
  return { redirectUri, state: state ?? "", nonce: nonce ?? "", verifier: verifier ?? "" };
}

/** The settings of sign-in by a provider. `Right`: what a group may do. */
export type ProviderSignIn<Right = unknown> = {
  readonly provider: IdentityProvider;
  /** The address of the console as browsers have it; ends in a slash. */
  readonly consoleUrl: string;
  /** The groups that are let in, with their rights. The first group that a person is in decides. */
  readonly groups: ReadonlyMap<string, Right>;
};

/** Returns the rights of groups by the names that sessions have for these. */
export const rightsOf = <Right>(
  signIn: ProviderSignIn<Right> | undefined,
): ReadonlyMap<string, Right> =>
  new Map(signIn && [...signIn.groups].map(([group, right]) => [groupOf(signIn, group), right]));

/** Names the owner of a session that a group began. Contains the issuer, since two providers may have groups of one name. */
export const groupOf = ({ provider }: Pick<ProviderSignIn, "provider">, group: string): string =>
  `${provider.issuer} ${group}`;
