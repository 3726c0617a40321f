/** A real OpenID provider on a port of its own. Signs each browser in at once, with the account set last. */
import { createServer, type Server } from "node:http";
import Provider from "oidc-provider";
import { close, listen, portOf } from "./loopback.ts";

export const clientSecret = "the-secret-of-the-client";

type Account = {
  readonly groups: readonly string[];
  readonly lifeSeconds?: number;
};

export class IdentityProvider {
  readonly #server: Server;
  #account: Account = { groups: [] };
  #accounts = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `redirectUris`: the allowed ways back to the client. */
  static async start(redirectUris: readonly string[]): Promise<IdentityProvider> {
    const server = createServer();
    await listen(server);
    const started = new IdentityProvider(server);
    started.#serve(redirectUris);
    return started;
  }

  get issuer(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  get env(): Readonly<Record<string, string>> {
    return {
      POSTHASTE_OIDC_ISSUER: this.issuer,
      POSTHASTE_OIDC_CLIENT_ID: "posthaste",
      POSTHASTE_OIDC_CLIENT_SECRET: clientSecret,
    };
  }

  is(account: Account): void {
    this.#account = account;
    this.#accounts += 1;
  }

  async stop(): Promise<void> {
    if (this.#server.listening) await close(this.#server);
  }

  #serve(redirectUris: readonly string[]): void {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: "posthaste",
          client_secret: clientSecret,
          redirect_uris: [...redirectUris],
          token_endpoint_auth_method: "client_secret_post",
        },
      ],
      claims: { openid: ["sub", "groups"] },
      cookies: { keys: ["a key of the test"] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_, accountId) => ({
        accountId,
        claims: async () => ({ sub: accountId, groups: this.#account.groups }),
      }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      loadExistingGrant: async ({ oidc }) => {
        const accountId = oidc.session?.accountId ?? "";
        const grant = new provider.Grant({ clientId: "posthaste", accountId });
        grant.addOIDCScope("openid");
        await grant.save();
        return grant;
      },
    });
    // The provider's settings do not allow a token that is issued expired.
    Object.assign(provider.IdToken, { expiresIn: () => this.#account.lifeSeconds ?? 3_600 });
    const answer = provider.callback();
    this.#server.on("request", (req, res) => {
      if (!req.url?.startsWith("/interaction/")) return void answer(req, res);
      const login = { accountId: `account-${this.#accounts}` };
      void provider.interactionFinished(req, res, { login });
      return undefined;
    });
  }
}
