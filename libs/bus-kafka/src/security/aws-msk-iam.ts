/** The token of Amazon MSK: a signed address that asks for permission to connect, and is never called. */
import { untilMs } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { awsCredentials, type AwsEnvironment } from "./aws-credentials.ts";
import { signedUrl } from "./aws-signature.ts";
import { type Token } from "./token.ts";

export type MskIam = {
  readonly env: AwsEnvironment;
  /** Returns Unix milliseconds by the host's clock: AWS refuses a signature of another time. */
  readonly hostNow: () => number;
};

/** The longest life of a token that a broker of MSK accepts. */
const seconds = 900;
const msPerSecond = 1_000;

export function mskTokens({ env, hostNow }: MskIam, clock: Clock): () => Promise<Token> {
  const region = env.AWS_REGION;
  if (!region) throw new Error("Kafka by aws-msk-iam: AWS_REGION is not set");
  const credentials = awsCredentials(env, region, clock);
  if (!credentials)
    throw new Error(
      "Kafka by aws-msk-iam: no keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role",
    );
  return async () => {
    const keys = await credentials();
    const now = hostNow();
    const url = signedUrl(
      keys,
      {
        ...{ host: `kafka.${region}.amazonaws.com`, path: "/", service: "kafka-cluster" },
        ...{ region, seconds, query: { Action: "kafka-cluster:Connect" } },
      },
      now,
    );
    // The agent is not part of the signed text; it appears in the logs of AWS.
    const value = Buffer.from(`${url}&User-Agent=posthaste`).toString("base64url");
    return { value, lifeMs: untilMs(keys.endsAt, seconds * msPerSecond, now) };
  };
}
