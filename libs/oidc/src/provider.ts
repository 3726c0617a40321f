/** A provider over OpenID Connect: the authorization code flow with PKCE, by openid-client, which is loaded at the first sign-in. */
import { type Attempt, type IdentityProvider, type SignInRefusal } from "@posthaste/http";

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client, which only PKCE protects. */
  readonly clientSecret?: string | undefined;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly groupsClaim: string;
};

const answerSecondsMax = 10;

export function createOidcProvider(settings: OidcSettings): IdentityProvider {
  const { issuer, clientId, clientSecret, groupsClaim, scopes } = settings;
  let loaded: ReturnType<typeof load> | undefined;

  async function load() {
    const client = await import("openid-client");
    const auth = clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret);
    // The configuration allows such an issuer only on this machine.
    const insecure = issuer.startsWith("http://") ? [client.allowInsecureRequests] : [];
    const config = await client.discovery(new URL(issuer), clientId, {}, auth, {
      execute: [client.enableNonRepudiationChecks, ...insecure],
      timeout: answerSecondsMax,
    });
    return { client, config };
  }

  /** Discovers the provider once; a failed discovery is tried again. */
  function discovered(): ReturnType<typeof load> {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  }

  async function claimed({ nonce, state, verifier }: Attempt, came: URL): Promise<unknown> {
    const { client, config } = await discovered();
    const tokens = await client.authorizationCodeGrant(config, came, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || claims[groupsClaim] !== undefined) return claims?.[groupsClaim];
    const has = config.serverMetadata().userinfo_endpoint !== undefined;
    return has
      ? (await client.fetchUserInfo(config, tokens.access_token, claims.sub))[groupsClaim]
      : undefined;
  }

  return {
    issuer,
    addressOf: async ({ nonce, redirectUri, state, verifier }) => {
      const { client, config } = await discovered();
      return client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes,
        ...{ state, nonce },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      }).href;
    },
    groupsOf: async (attempt, came) => {
      try {
        const groups = await claimed(attempt, came);
        return [groups].flat().filter((group) => typeof group === "string");
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

/** Codes of openid-client for a provider that did not answer, or answered in another form. */
const awayCodes: ReadonlySet<unknown> = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT"]);

function refusalOf(error: unknown): SignInRefusal {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  // fetch throws a TypeError without a code when nothing answers.
  const isAway = name === "TypeError" && code === undefined;
  const why = typeof code === "string" ? code : String(name);
  return { refused: isAway || awayCodes.has(code) ? "away" : "refused", why };
}
