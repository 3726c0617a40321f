/**
 * Makes requests to management that must be refused, from docs/openapi.json: each is valid except for one fault.
 * Requests are bytes, since no HTTP client would send most of them.
 */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { type Json, objectOf } from "./json.ts";
import { basic, freshNetwork, operatorPassword, operatorUser } from "./operator.ts";

export type HostileRequest = {
  readonly bytes: Buffer;
  /** The beginning of the refusal, if the body is at fault. */
  readonly names?: string;
};

/** An operation with a body. The path may name an existing tenant, so that nothing but the fault is wrong. */
type Taker = { readonly path: string; readonly method: string; readonly body: Json };

const documentUrl = new URL("../../docs/openapi.json", import.meta.url);
const paths = objectOf(objectOf(JSON.parse(readFileSync(documentUrl, "utf8")))["paths"]);
const managed = Object.keys(paths).filter((path) => /^\/v2\/(search|tenants)/.test(path));
const ajv = new Ajv2020();

const takers: readonly Taker[] = [
  { path: "/v2/tenants", method: "post", body: { id: "new", dialect: "upstash", plan: {} } },
  { path: "/v2/tenants/{id}", method: "patch", body: { dialect: "upstash", plan: {} } },
  { path: "/v2/tenants/{id}/tokens", method: "post", body: { scope: "read" } },
  { path: "/v2/search/{id}/throughput", method: "post", body: { y: 1 } },
  {
    path: "/v2/search",
    method: "post",
    body: {
      ...{ customer_id: "settled", name: "n", endpoint: "https://a.example" },
      ...{ type: "payg", region: "eu-west-1" },
    },
  },
];

/** `ids`: the ids of an existing tenant and search index. */
export function hostileRequests(ids: {
  readonly tenant: string;
  readonly index: string;
}): fc.Arbitrary<HostileRequest> {
  const pathOf = (template: string): string =>
    template.replace("{id}", template.startsWith("/v2/search") ? ids.index : ids.tenant);
  return fc.oneof(
    { arbitrary: wrongBody(pathOf), weight: 4 },
    { arbitrary: wrongPath(), weight: 2 },
    { arbitrary: wrongMethod(pathOf), weight: 1 },
    { arbitrary: wrongHeaders(pathOf), weight: 2 },
  );
}

type PathOf = (template: string) => string;

const wrongBody = (pathOf: PathOf): fc.Arbitrary<HostileRequest> =>
  fc.constantFrom(...takers).chain((taker) =>
    bodiesFor(taker).map(({ body, names }) => ({
      bytes: requestOf(taker.method.toUpperCase(), pathOf(taker.path), [], body),
      names,
    })),
  );

type WrongBody = { readonly body: Buffer; readonly names: string };

function bodiesFor({ path, method, body }: Taker): fc.Arbitrary<WrongBody> {
  const schema = bodySchemaOf(path, method);
  const fields = objectOf(schema["properties"]);
  const text = JSON.stringify(body);
  const notJson = (bytes: string | Buffer): WrongBody => ({
    body: Buffer.from(bytes),
    names: "body: ",
  });
  const wrongField = fc.constantFrom(...Object.keys(fields)).chain((field) =>
    wrongValue(objectOf(fields[field])).map((value) => ({
      // The last of two equal fields counts, so a right value may come first.
      body: Buffer.from(`${text.slice(0, -1)},${JSON.stringify(field)}:${value}}`),
      names: field,
    })),
  );
  const unknownField = fc
    .tuple(fc.string({ unit: "binary", maxLength: 40 }), fc.json())
    .filter(([key]) => !(key in fields))
    .map(([key, value]) => notJson(`${text.slice(0, -1)},${JSON.stringify(key)}:${value}}`));
  return fc.oneof(
    wrongField,
    unknownField,
    fc.nat({ max: text.length - 1 }).map((length) => notJson(text.slice(0, length))),
    fc.nat({ max: 30_000 }).map((depth) => notJson("[".repeat(depth) + "]".repeat(depth))),
    fc.nat({ max: 10_000 }).map((depth) => notJson('{"plan":'.repeat(depth + 1))),
    fc.integer({ min: 1, max: 30_000 }).map((count) => notJson(`[${"0,".repeat(count)}0]`)),
    fc.uint8Array({ min: 0x80, max: 0xff, minLength: 1 }).map((raw) => notJson(Buffer.from(raw))),
    fc.constantFrom(" ".repeat(65_537), "\ufeff{}", "null", "NaN", "{'y':1}").map(notJson),
  );
}

/** Values that `schema` refuses, as JSON text: a program cannot hold a number such as 1e400. */
const wrongValue = (schema: Json): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.json(),
      fc.constantFrom("1e400", "-1e400", "-1", "0.5", "9007199254740993", '""', '"\\ud800"'),
    )
    .filter((text) => !ajv.validate(schema, JSON.parse(text)));

function bodySchemaOf(path: string, method: string): Json {
  const request = objectOf(objectOf(objectOf(paths[path])[method])["requestBody"]);
  return objectOf(objectOf(objectOf(request["content"])["application/json"])["schema"]);
}

const hostileSegments = [
  ...["..", "%2e%2e", "%00", "%", "%zz", "%ff", "%ed%a0%80", "a%2Fb", ";", "__proto__", "toString"],
  ...["%F0%9F%92%A9", "%E2%80%AE", "settled%20", "settled%00", "Settled", "x".repeat(8_000), "'--"],
];

const wrongPath = (): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(
      fc.constantFrom(...managed.filter((path) => path.includes("{"))),
      fc.constantFrom(...hostileSegments),
      fc.constantFrom("", "?", "?a=1&a=2", "?%", "//"),
      fc.constantFrom("GET", "POST", "PATCH", "DELETE"),
    )
    .map(([path, segment, tail, method]) => ({
      bytes: requestOf(method, path.replaceAll(/\{\w+\}/g, segment) + tail, [], Buffer.from("{}")),
    }));

const wrongMethod = (pathOf: PathOf): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(fc.constantFrom(...managed), fc.constantFrom("PUT", "TRACE", "PROPFIND", "BREW", "get"))
    .map(([path, method]) => ({
      bytes: requestOf(method, pathOf(path).replace("{tokenId}", "x"), [], Buffer.from("{}")),
    }));

/** Requests with wrong headers, and bodies that would be accepted. */
const wrongHeaders = (pathOf: PathOf): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(
      fc.constantFrom(...takers),
      fc.constantFrom<readonly string[]>(
        ["Authorization: Basic AAAA"],
        ["Authorization: Basic"],
        ["Content-Length: 1"],
        ["Content-Length: 99999999999999999999"],
        ["Transfer-Encoding: chunked"],
        ["Transfer-Encoding: gzip, chunked, chunked"],
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"],
        ["Host: b"],
        ["No colon"],
        ["X: \0"],
        ["Folded: a", " b\r", "c"],
        [`X: ${"x".repeat(70_000)}`],
      ),
    )
    .map(([{ path, method, body }, headers]) => ({
      bytes: requestOf(
        method.toUpperCase(),
        pathOf(path),
        headers,
        Buffer.from(JSON.stringify(body)),
      ),
    }));

/** Returns a request with the operator's credentials, from a network of its own, that closes the connection. */
function requestOf(method: string, path: string, headers: readonly string[], body: Buffer): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    "Host: a",
    "Connection: close",
    `Authorization: ${basic(operatorUser, operatorPassword)}`,
    `X-Forwarded-For: ${freshNetwork()["x-forwarded-for"]}`,
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}
