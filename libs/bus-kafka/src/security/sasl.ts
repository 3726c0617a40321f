/** Authenticates this process to the brokers. */
import { type Clock } from "@posthaste/ports";
import { mskTokens, type MskIam } from "./aws-msk-iam.ts";
import { askForToken, type ClientCredentials } from "./client-credentials.ts";
import { keptToken, type TokenSource } from "./token.ts";

type Password = {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly user: string;
  readonly password: string;
};

export type Sasl =
  | Password
  | ({ readonly mechanism: "oauthbearer" } & ClientCredentials)
  | ({ readonly mechanism: "aws-msk-iam" } & MskIam);

export type Login = Password | { readonly mechanism: "oauthbearer"; readonly token: TokenSource };

/** Returns one login for all connections of a bus, which share a token. */
export function loginOf(sasl: Sasl, clock: Clock): Login {
  switch (sasl.mechanism) {
    case "plain":
    case "scram-sha-256":
    case "scram-sha-512":
      return sasl;
    case "oauthbearer":
      return byToken(keptToken(() => askForToken(sasl, clock), clock));
    case "aws-msk-iam":
      return byToken(keptToken(mskTokens(sasl, clock), clock));
  }
}

const byToken = (token: TokenSource): Login => ({ mechanism: "oauthbearer", token });
