/** Tests signatures (docs/design/delivery#signatures): a JWT for each attempt, made with the tenant's current key. */
import { createHmac, hash } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { always, type Arrival } from "./destination.ts";
import { dialects, inDialect } from "./dialects.ts";
import { type Json, numberOf, objectOf, textOf } from "./json.ts";
import { firstUser, secondUser } from "./users.ts";
import { client, destination, other, startBeforeTests } from "./suite.ts";

const { current: currentKey, next: nextKey } = firstUser.keys;

/** A JWT holds whole seconds. */
const wholeSecondsMs = 1_000;
const clocksApartMs = 50;

startBeforeTests();

const decode = (part: string | undefined): Json =>
  objectOf(JSON.parse(Buffer.from(part ?? "", "base64url").toString()));

const isSignedWith = (token: string, key: string): boolean => {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const made = createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url");
  return made === signature;
};

describe.each(dialects)("a delivery in the $prefix dialect", ({ prefix, issuer }) => {
  const path = (name: string): string => `/${prefix}${name}`;
  const tokenOf = (arrival: Arrival | undefined): string =>
    textOf(arrival?.headers[`${prefix}signature`.toLowerCase()]);
  const claimsOf = (arrival: Arrival | undefined): Json => decode(tokenOf(arrival).split(".")[1]);
  const settings = (more = {}) => inDialect(prefix, { Label: "tells the dialect", ...more });

  it("is signed with the current key, with HS256, and not with the next one", async () => {
    await client.published(destination.url(path("key")), settings());

    const token = tokenOf(await destination.arrival(path("key")));
    expect(decode(token.split(".")[0])).toEqual({ alg: "HS256", typ: "JWT" });
    expect(isSignedWith(token, currentKey)).toBe(true);
    expect(isSignedWith(token, nextKey)).toBe(false);
  });

  it("names issuer, destination, times and the body's hash", async () => {
    const url = destination.url(path("claims/?a=%2f&B"));
    const body = Buffer.from([0xff, 0x0d, 0x0a]);
    const publishedAt = Date.now();

    await client.published(url, settings(), body);

    const arrival = await destination.arrival(path("claims/"));
    const claims = claimsOf(arrival);
    const iat = numberOf(claims["iat"]);
    expect(claims).toEqual({
      iss: issuer,
      sub: url,
      nbf: 0,
      iat,
      exp: iat + 300,
      jti: expect.stringMatching(/^jwt_[0-9A-Za-z]{28}$/),
      body: hash("sha256", body, "base64url"),
    });
    expect(iat * 1_000).toBeGreaterThan(publishedAt - wholeSecondsMs);
    expect(iat * 1_000).toBeLessThan(arrival.at + clocksApartMs);
  });

  it("of an empty body has the hash of nothing", async () => {
    await client.published(destination.url(path("empty")), settings());

    const { body } = claimsOf(await destination.arrival(path("empty")));
    expect(body).toBe(hash("sha256", "", "base64url"));
  });

  it("is signed anew at each attempt, when it is made", async () => {
    destination.answers(path("anew"), always(500));
    const twice = settings({ Retries: "1", "Retry-Delay": "2000" });

    await client.published(destination.url(path("anew")), twice);

    const [first, second] = (await destination.arrivals(path("anew"), 2)).map(claimsOf);
    expect(second?.["jti"]).not.toBe(first?.["jti"]);
    expect(numberOf(second?.["iat"]) - numberOf(first?.["iat"])).toBeGreaterThanOrEqual(2);
  });

  it("after a delay is signed when it is made, not when it was published", async () => {
    const publishedAt = Date.now();
    await client.published(destination.url(path("delayed")), settings({ Delay: "2s" }));

    const iat = numberOf(claimsOf(await destination.arrival(path("delayed")))["iat"]);
    expect(iat * 1_000).toBeGreaterThan(publishedAt + 2_000 - wholeSecondsMs);
  });

  it("to a callback is signed like any other, for the callback's URL", async () => {
    const callback = destination.url(path("callback?c=1"));

    await client.published(destination.url(path("any")), settings({ Callback: callback }));

    const arrival = await destination.arrival(path("callback"));
    const claims = claimsOf(arrival);
    expect(isSignedWith(tokenOf(arrival), currentKey)).toBe(true);
    expect(claims).toMatchObject({
      sub: callback,
      body: hash("sha256", arrival.body, "base64url"),
    });
  });
});

describe("GET /v2/keys", () => {
  it("200 answers the keys that verify", async () => {
    const reply = await client.get("/v2/keys");

    expect(reply.status).toBe(200);
    expect(reply.object()).toEqual({ current: currentKey, next: nextKey });
  });
});

it("a tenant's deliveries are signed with its own key", async () => {
  await other.published(destination.url("/other-tenant"));

  const arrival = await destination.arrival("/other-tenant");
  const token = textOf(arrival.headers["service-signature"]);
  expect(isSignedWith(token, secondUser.keys.current)).toBe(true);
  expect(isSignedWith(token, currentKey)).toBe(false);
});
