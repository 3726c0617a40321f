/** Keys and signatures of AWS, with a server that answers as AWS' servers do. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { systemClock } from "@posthaste/process";
import { answer, type Destination, openDestination, type Respond } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AwsEnvironment } from "./aws-credentials.ts";
import { mskTokens } from "./aws-msk-iam.ts";
import { signedUrl } from "./aws-signature.ts";

const clock = systemClock();
let server: Destination | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

it("an address is signed as the example that AWS publishes", () => {
  const keys = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const toSign = {
    ...{ host: "examplebucket.s3.amazonaws.com", path: "/test.txt", query: {} },
    ...{ service: "s3", region: "us-east-1", seconds: 86_400, bodyHash: "UNSIGNED-PAYLOAD" },
  };

  const url = new URL(signedUrl(keys, toSign, Date.parse("2013-05-24T00:00:00Z")));

  expect(url.searchParams.get("X-Amz-Signature")).toBe(
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  );
});

const now = Date.parse("2026-11-27T08:00:00Z");
const inTenMinutes = new Date(now + 600_000).toISOString();
const region = { AWS_REGION: "eu-west-1" };
const inVariables = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" };

async function tokenBy(env: AwsEnvironment) {
  const { value, lifeMs } = await mskTokens({ env, hostNow: () => now }, clock)();
  const url = new URL(Buffer.from(value, "base64url").toString());
  return { url, lifeMs, credential: url.searchParams.get("X-Amz-Credential") };
}

async function serving(respond: Respond): Promise<string> {
  server = await openDestination(respond);
  return server.url;
}

function file(text: string): string {
  const path = join(temporaryFolder(), "token");
  writeFileSync(path, text);
  return path;
}

describe("a token for MSK", () => {
  it("names the brokers of the region, and is signed with keys from variables", async () => {
    const { url, lifeMs, credential } = await tokenBy({ ...region, ...inVariables });

    expect([url.host, url.pathname, lifeMs]).toEqual([
      "kafka.eu-west-1.amazonaws.com",
      "/",
      900_000,
    ]);
    expect(credential).toBe("AKID/20261127/eu-west-1/kafka-cluster/aws4_request");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: "kafka-cluster:Connect",
      "X-Amz-Date": "20261127T080000Z",
      "X-Amz-Expires": "900",
      "X-Amz-SignedHeaders": "host",
    });
    expect(url.searchParams.has("X-Amz-Security-Token")).toBe(false);
  });

  it("lives no longer than the keys of a service account's role, which STS returns", async () => {
    const answered = `<R><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>session+/=</SessionToken><Expiration>${inTenMinutes}</Expiration></Credentials></R>`;
    const url = await serving((socket) => answer(socket, "200 OK", answered));

    const token = await tokenBy({
      ...{ ...region, AWS_ENDPOINT_URL_STS: url, AWS_ROLE_ARN: "arn:aws:iam::1:role/posthaste" },
      AWS_WEB_IDENTITY_TOKEN_FILE: file("identity\n"),
    });

    const [request] = server?.requests ?? [];
    expect(
      Object.fromEntries(new URLSearchParams(Buffer.from(request?.body ?? []).toString())),
    ).toEqual({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::1:role/posthaste",
      RoleSessionName: "posthaste",
      WebIdentityToken: "identity",
    });
    expect(token.url.searchParams.get("X-Amz-Security-Token")).toBe("session+/=");
    expect([token.lifeMs, token.credential?.split("/")[0]]).toEqual([600_000, "ASIA"]);
  });

  it("is signed by the keys that a container's agent gives to its token", async () => {
    const keys = {
      AccessKeyId: "ASIB",
      SecretAccessKey: "s",
      Token: "t",
      Expiration: inTenMinutes,
    };
    const url = await serving((socket) => answer(socket, "200 OK", JSON.stringify(keys)));

    const { credential } = await tokenBy({
      ...{ ...region, AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials` },
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file("allowed"),
    });

    expect(server?.requests[0]?.head).toContain("authorization: allowed");
    expect(credential?.split("/")[0]).toBe("ASIB");
  });

  it.each([
    ["403 Forbidden", "<E><Code>AccessDenied</Code></E>", "answers 403, AccessDenied"],
    ["200 OK", "<E></E>", "answers without keys"],
  ])("says why there are no keys: %s %s", async (status, body, reason) => {
    const url = await serving((socket) => answer(socket, status, body));

    const token = tokenBy({
      ...{ ...region, AWS_ENDPOINT_URL_STS: url, AWS_ROLE_ARN: "r" },
      AWS_WEB_IDENTITY_TOKEN_FILE: file("identity"),
    });

    await expect(token).rejects.toThrow(reason);
  });

  it.each([
    ["AWS_REGION is not set", inVariables],
    ["no keys", region],
  ])("is refused when the bus opens if the environment is incomplete: %s", (reason, env) => {
    expect(() => mskTokens({ env, hostNow: () => now }, clock)).toThrow(reason);
  });
});
