import { describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault, planBounds } from "@posthaste/domain";
import * as fc from "fast-check";
import { searchIndexes } from "./search-indexes.ts";
import { parseChangeTenant, parseCreateTenant, planJson } from "./tenants.ts";
import { tokens } from "./tokens.ts";

const parseCreateSearchIndex = searchIndexes.enterSearchIndex.body.parse;
const parseThroughput = searchIndexes.reportThroughput.body.parse;
const parseCreateToken = tokens.createToken.body.parse;

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const malformed = (text: unknown) => ({ fault: "malformed", text });

describe("a tenant to make", () => {
  it("has an id, and may say its dialect and limits", () => {
    const body = bytes({ id: "acme-1_a", dialect: "upstash", plan: { retriesMax: 5 } });

    expect(parseCreateTenant(body)).toEqual({
      id: "acme-1_a",
      dialect: "upstash",
      limits: { retriesMax: 5 },
    });
    expect(parseCreateTenant(bytes({ id: "acme" }))).toEqual({
      id: "acme",
      dialect: undefined,
      limits: {},
    });
  });

  it.each([
    [{}, "id: must be a string"],
    [{ id: 5 }, "id: must be a string"],
    [{ id: "" }, "id: must be 1 to 64 letters, digits, '-' and '_'"],
    [{ id: "a:b" }, "id: must be 1 to 64 letters, digits, '-' and '_'"],
    [{ id: "a/b" }, "id: must be 1 to 64 letters, digits, '-' and '_'"],
    [{ id: "x".repeat(65) }, "id: must be 1 to 64 letters, digits, '-' and '_'"],
    [{ id: "a", dialect: "other" }, "dialect: must be one of service, upstash"],
    [{ id: "a", plan: 5 }, "plan: must be an object"],
    [{ id: "a", plan: null }, "plan: must be an object"],
    [
      { id: "a", plans: {} },
      'body: unknown field "plans"; known names: id, dialect, plan; did you mean plan?',
    ],
    ["[]", "body: must be an object"],
    ["{", "body: must be JSON in UTF-8"],
    ["", "body: must be a JSON object, and is empty"],
  ])("is refused in %j, naming the field", (body, text) => {
    expect(parseCreateTenant(bytes(body))).toEqual(malformed(text));
  });
});

describe("the limits of a plan", () => {
  it.each(Object.entries(planBounds))("%s are whole numbers within bounds", (name, bounds) => {
    const { min, max } = bounds;
    const text = `plan.${name}: must be a whole number from ${min} to ${max}`;
    for (const limit of [min, max])
      expect(parseChangeTenant(bytes({ plan: { [name]: limit } }))).toMatchObject({
        limits: { [name]: limit },
      });
    for (const limit of [min - 1, max + 1, min + 0.5, String(min), null, true, [min], {}])
      expect(parseChangeTenant(bytes({ plan: { [name]: limit } }))).toEqual(malformed(text));
    expect(parseChangeTenant(bytes(`{"plan":{"${name}":1e400}}`))).toMatchObject({
      fault: "malformed",
    });
  });

  it("hold for the default plan, and are all shown", () => {
    const shown = planJson(defaultPlan);

    expect(Object.keys(shown).toSorted()).toEqual(Object.keys(planBounds).toSorted());
    expect(parseChangeTenant(bytes({ plan: shown }))).toMatchObject({ limits: shown });
  });

  it("are all bounds of a plan", () => {
    expect(Object.keys(planBounds).toSorted()).toEqual(Object.keys(defaultPlan).toSorted());
  });

  it("are refused if they are not limits", () => {
    expect(parseChangeTenant(bytes({ plan: { groupMax: 1 } }))).toMatchObject({
      text: expect.stringContaining('plan: unknown field "groupMax"; known names: retriesDefault'),
    });
  });
});

describe("a token to make", () => {
  const scopeFault = malformed("scope: must be full, operate, read, publish or queue:NAME");

  it("has a scope, and may have a name and an end", () => {
    for (const scope of ["full", "read", "publish", "queue:emails"])
      expect(parseCreateToken(bytes({ scope }))).toEqual({ scope });
    const whole = { scope: "publish", name: "shop", expiresAt: 253_402_300_799_999 };
    expect(parseCreateToken(bytes(whole))).toEqual(whole);
  });

  it.each([
    {},
    { scope: "write" },
    { scope: "queue:" },
    { scope: "queue:a/b" },
    { scope: ["full"] },
  ])("is refused with %j, naming the field", (body) => {
    expect(parseCreateToken(bytes(body))).toEqual(scopeFault);
  });

  it.each([
    [{ name: "" }, "name: must be 1 to 64 characters on one line"],
    [{ name: "a\nb" }, "name: must be 1 to 64 characters on one line"],
    [{ expiresAt: "soon" }, "expiresAt: must be a whole number from 0 to 253402300799999"],
    [{ expiresAt: 1e15 }, "expiresAt: must be a whole number from 0 to 253402300799999"],
    [{ expires: 1 }, expect.stringContaining('unknown field "expires"')],
  ])("is refused with %j beside its scope, naming the field", (more, text) => {
    expect(parseCreateToken(bytes({ scope: "full", ...more }))).toEqual(malformed(text));
  });
});

describe("a search index to enter", () => {
  const valid = {
    customer_id: "acme",
    name: "articles",
    endpoint: "https://search.example",
    type: "payg",
    region: "us-central1",
  };

  it("has an owner, a name, an endpoint, a type and a region, and may say its limits", () => {
    const whole = {
      ...valid,
      partner_email: "partner@example.com",
      input_enrichment_enabled: true,
      max_vector_count: 0,
      max_monthly_reranks: -1,
      max_daily_updates: -1,
      max_daily_queries: 0,
      max_monthly_bandwidth: -1,
      max_writes_per_second: 1,
      max_query_per_second: 2,
      max_reads_per_request: 3,
      max_writes_per_request: Number.MAX_SAFE_INTEGER,
    };

    expect(parseCreateSearchIndex(bytes(valid))).toEqual(valid);
    expect(parseCreateSearchIndex(bytes(whole))).toEqual(whole);
  });

  it.each([
    [{ customer_id: undefined }, "customer_id: must be a string"],
    [{ customer_id: "a b" }, "customer_id: must be 1 to 64 letters, digits, '-' and '_'"],
    [{ name: "" }, "name: must be 1 to 128 characters on one line"],
    [{ name: "a\nb" }, "name: must be 1 to 128 characters on one line"],
    [{ name: "x".repeat(129) }, "name: must be 1 to 128 characters on one line"],
    [{ endpoint: "" }, "endpoint: must be 1 to 2048 visible characters of ASCII"],
    [{ endpoint: "a b" }, "endpoint: must be 1 to 2048 visible characters of ASCII"],
    [{ type: "paid" }, "type: must be one of free, payg, fixed"],
    [{ region: "eu-west-2" }, "region: must be one of eu-west-1, us-central1"],
    [{ partner_email: 5 }, "partner_email: must be a string"],
    [{ input_enrichment_enabled: "yes" }, "input_enrichment_enabled: must be true or false"],
    [
      { max_vector_count: -1 },
      "max_vector_count: must be a whole number from 0 to 9007199254740991",
    ],
    [
      { max_daily_queries: -2 },
      "max_daily_queries: must be a whole number from -1 to 9007199254740991",
    ],
    [
      { max_monthly_bandwidth: 0.5 },
      "max_monthly_bandwidth: must be a whole number from -1 to 9007199254740991",
    ],
  ])("is refused with %j, naming the field", (changed, text) => {
    expect(parseCreateSearchIndex(bytes({ ...valid, ...changed }))).toEqual(malformed(text));
  });

  it("does not choose its own id or tokens", () => {
    for (const field of ["id", "token", "read_only_token", "creation_time", "throughput_vector"])
      expect(parseCreateSearchIndex(bytes({ ...valid, [field]: "x" }))).toMatchObject({
        text: expect.stringContaining(`unknown field "${field}"`),
      });
  });
});

describe("a throughput to report", () => {
  it("is a number, and not negative", () => {
    expect(parseThroughput(bytes({ y: 12.5 }))).toEqual({ y: 12.5 });
    expect(parseThroughput(bytes({ y: -1 }))).toEqual(malformed("y: must not be negative"));
    expect(parseThroughput(bytes({ y: "1" }))).toEqual(malformed("y: must be a number"));
    expect(parseThroughput(bytes('{"y":1e400}'))).toEqual(malformed("y: must be a number"));
  });
});

it("whatever JSON holds, it is either understood or refused", () => {
  const parsers = [
    parseCreateTenant,
    parseChangeTenant,
    parseCreateToken,
    parseCreateSearchIndex,
    parseThroughput,
  ];
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: "binary" })), (text) =>
      parsers.every((parse) => {
        const parsed = parse(bytes(text));
        return isFault(parsed) || typeof parsed === "object";
      }),
    ),
    { numRuns: 500 },
  );
});
