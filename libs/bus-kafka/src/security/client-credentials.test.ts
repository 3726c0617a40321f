import { afterEach, describe, expect, it } from "@jest/globals";
import { systemClock } from "@posthaste/process";
import { answer, type Destination, openDestination } from "@posthaste/testing";
import { askForToken } from "./client-credentials.ts";

let issuer: Destination | undefined;
afterEach(() => issuer?.close());

async function asked(status: string, body: string, headers: readonly string[] = []) {
  issuer = await openDestination((socket) => answer(socket, status, body, headers));
  return askForToken(
    {
      ...{ tokenUrl: `${issuer.url}/token`, clientId: "an id", clientSecret: "a:secret" },
      scope: "kafka other",
    },
    systemClock(),
  );
}

describe("a token by client credentials", () => {
  it("is requested by the id and the secret, and lives as long as the issuer says", async () => {
    const token = await asked("200 OK", '{"access_token":"a.b.c","expires_in":300}');

    const [request] = issuer?.requests ?? [];
    const basic = Buffer.from("an%20id:a%3Asecret").toString("base64");
    expect(token).toEqual({ value: "a.b.c", lifeMs: 300_000 });
    expect(request?.head).toContain(`authorization: Basic ${basic}`);
    expect(Buffer.from(request?.body ?? []).toString()).toBe(
      "grant_type=client_credentials&scope=kafka+other",
    );
  });

  it("lives for five minutes when the issuer does not say", async () => {
    await expect(asked("200 OK", '{"access_token":"a"}')).resolves.toMatchObject({
      lifeMs: 300_000,
    });
  });

  it.each([
    ["401 Unauthorized", '{"error":"invalid_client"}', [], "answers 401, invalid_client"],
    ["500 Broken", "<html>", [], "answers 500"],
    ["200 OK", "<html>", [], "without an access_token"],
    ["200 OK", '{"access_token":"a\\u0001auth=b"}', [], "without an access_token"],
    ["302 Found", "", ["Location: http://127.0.0.1:1/"], "unexpected redirect"],
    ["200 OK", "x".repeat(300_000), [], "more than 262144 bytes"],
  ])(
    "is not obtained when the answer is %s %#, and the reason says so without the secret",
    async (status, body, headers, reason) => {
      const error: unknown = await asked(status, body, headers).catch((each: unknown) => each);

      expect(String(error)).toContain(reason);
      expect(String(error)).not.toContain("secret");
    },
  );
});
