/**
 * Finds the keys of this process at AWS, in the first places where AWS' own clients look: variables, the role of a
 * service account in Kubernetes (web identity), the agent of the container (EKS Pod Identity, ECS). Keys are not
 * kept: they are requested when a token is made, every quarter of an hour.
 */
import { type Clock } from "@posthaste/ports";
import { readFile } from "node:fs/promises";
import { answered, membersOf } from "./answered.ts";
import { type AwsKeys } from "./aws-signature.ts";

/** The variables of AWS that are read; an empty one counts as not set. */
export type AwsEnvironment = {
  readonly AWS_ACCESS_KEY_ID?: string | undefined;
  readonly AWS_CONTAINER_AUTHORIZATION_TOKEN?: string | undefined;
  readonly AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE?: string | undefined;
  readonly AWS_CONTAINER_CREDENTIALS_FULL_URI?: string | undefined;
  readonly AWS_CONTAINER_CREDENTIALS_RELATIVE_URI?: string | undefined;
  readonly AWS_ENDPOINT_URL_STS?: string | undefined;
  readonly AWS_REGION?: string | undefined;
  readonly AWS_ROLE_ARN?: string | undefined;
  readonly AWS_ROLE_SESSION_NAME?: string | undefined;
  readonly AWS_SECRET_ACCESS_KEY?: string | undefined;
  readonly AWS_SESSION_TOKEN?: string | undefined;
  readonly AWS_WEB_IDENTITY_TOKEN_FILE?: string | undefined;
};

export type AwsCredentials = AwsKeys & { readonly endsAt: number };

export function awsCredentials(
  env: AwsEnvironment,
  region: string,
  clock: Clock,
): (() => Promise<AwsCredentials>) | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId && secretAccessKey) {
    const sessionToken = env.AWS_SESSION_TOKEN || undefined;
    const endsAt = Number.POSITIVE_INFINITY;
    return async () => ({ accessKeyId, secretAccessKey, sessionToken, endsAt });
  }
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: role } = env;
  if (tokenFile && role) return () => ofWebIdentity(env, region, tokenFile, role, clock);
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const url = relative ? `${containerHost}${relative}` : env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  return url ? () => ofContainer(env, url, clock) : undefined;
}

const okStatus = 200;
/** The agent of ECS. */
const containerHost = "http://169.254.170.2";

async function ofWebIdentity(
  env: AwsEnvironment,
  region: string,
  tokenFile: string,
  role: string,
  clock: Clock,
): Promise<AwsCredentials> {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const url = env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.${domain}/`;
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: env.AWS_ROLE_SESSION_NAME || "posthaste",
    // Kubernetes replaces the token before it ends.
    WebIdentityToken: (await readFile(tokenFile, "utf8")).trim(),
  });
  const { status, text } = await answered(url, { method: "POST", body }, clock);
  const element = (name: string): string | undefined =>
    new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  if (status !== okStatus)
    throw new Error(`${new URL(url).host} answers ${status}, ${element("Code")}`);
  return credentialsOf(url, {
    AccessKeyId: element("AccessKeyId"),
    SecretAccessKey: element("SecretAccessKey"),
    Token: element("SessionToken"),
    Expiration: element("Expiration"),
  });
}

async function ofContainer(
  env: AwsEnvironment,
  url: string,
  clock: Clock,
): Promise<AwsCredentials> {
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const authorization = file
    ? (await readFile(file, "utf8")).trim()
    : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const headers = authorization ? { authorization } : {};
  const { status, text } = await answered(url, { headers }, clock);
  if (status !== okStatus) throw new Error(`${new URL(url).host} answers ${status}`);
  return credentialsOf(url, membersOf(text));
}

function credentialsOf(
  url: string,
  { AccessKeyId, SecretAccessKey, Token, Expiration }: Readonly<Record<string, unknown>>,
): AwsCredentials {
  const endsAt = Date.parse(String(Expiration));
  if (
    typeof AccessKeyId !== "string" ||
    typeof SecretAccessKey !== "string" ||
    typeof Token !== "string" ||
    Number.isNaN(endsAt)
  )
    throw new Error(`${new URL(url).host} answers without keys`);
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token,
    endsAt,
  };
}
