import { describe, expect, it } from "@jest/globals";
import { aCommand, anotherTenant, someEndpoints, sha256 } from "@posthaste/testing";
import { type PublishCommand } from "./command.ts";
import { deduplicationKeys, keepsKey } from "./deduplication.ts";

const keysOf = (overrides: Partial<PublishCommand>, endpoints = someEndpoints(0)) =>
  deduplicationKeys(aCommand(overrides), endpoints, sha256);
const explicit = { deduplication: { kind: "explicit", id: "order-1" } } as const;
const content = { deduplication: { kind: "content" } } as const;
const group = { destination: { kind: "group", name: "g" } } as const;
const url = (text: string) => ({ destination: { kind: "url", url: text } }) as const;

describe("a key", () => {
  it.each([
    ["queued", true],
    ["held", true],
    ["waiting", true],
    ["due", true],
    ["claimed", true],
    ["active", true],
    ["delivered", true],
    ["succeeded", true],
    ["failed", true],
    ["canceled", false],
  ] as const)("goes on to name work that is %s: %s", (state, keeps) => {
    expect(keepsKey(state)).toBe(keeps);
  });
});

describe("deduplication keys", () => {
  it("are none for a publish without deduplication", () => {
    expect(keysOf({})).toEqual([]);
    expect(keysOf(group, someEndpoints(3))).toEqual([]);
  });

  it("by id are the same for every message and destination", () => {
    const first = keysOf(explicit);

    expect(first).toHaveLength(1);
    expect(
      keysOf({ ...explicit, ...url("https://other.example/"), body: Uint8Array.of(1) }),
    ).toEqual(first);
    expect(keysOf({ deduplication: { kind: "explicit", id: "order-2" } })).not.toEqual(first);
  });

  it("belong to their tenant", () => {
    expect(keysOf({ ...explicit, tenant: anotherTenant })).not.toEqual(keysOf(explicit));
    expect(keysOf({ ...content, tenant: anotherTenant })).not.toEqual(keysOf(content));
  });

  it.each<[string, Partial<PublishCommand>]>([
    ["the destination", url("https://other.example/")],
    ["the body", { body: new TextEncoder().encode("hello!") }],
    ["the method", { method: "DELETE" }],
    ["the encoding", { headers: [["Content-Encoding", "gzip"]] }],
    ["the content type", { headers: [["Content-Type", "text/html"]] }],
    [
      "a forwarded header",
      {
        headers: [
          ["Content-Type", "text/plain"],
          ["X-A", "1"],
        ],
      },
    ],
  ])("by content differ when %s differs", (_, overrides) => {
    expect(keysOf({ ...content, ...overrides })).not.toEqual(keysOf(content));
  });

  it("by content are the same however header names are spelled and ordered", () => {
    const headers = [
      ["Content-Type", "text/plain"],
      ["X-B", "2"],
      ["X-A", "1"],
      ["X-A", "3"],
    ] as const;
    const other = [
      ["x-a", "1"],
      ["X-B", "2"],
      ["X-a", "3"],
      ["content-type", "text/plain"],
    ] as const;
    const swapped = [...other.slice(2, 3), ...other.slice(0, 2), ...other.slice(3)];

    expect(keysOf({ ...content, headers: other })).toEqual(keysOf({ ...content, headers }));
    expect(keysOf({ ...content, headers: swapped })).not.toEqual(keysOf({ ...content, headers }));
  });

  it("by content are the same for the same publish, for every caller and policy", () => {
    const policy = { ...aCommand().policy, retriesMax: 0 };

    expect(keysOf({ ...content, callerIp: "198.51.100.1", policy })).toEqual(keysOf(content));
  });

  it("by content never collide with ids", () => {
    const [key] = keysOf(content);

    expect(keysOf({ deduplication: { kind: "explicit", id: String(key) } })).not.toEqual([key]);
  });

  it("of a group are one per endpoint, and an endpoint keeps its own when others come or move", () => {
    const [first, second, third] = someEndpoints(3);
    if (!first || !second || !third) throw new Error("unreachable");

    const before = keysOf({ ...explicit, ...group }, [first, second]);
    const after = keysOf({ ...explicit, ...group }, [third, second, first]);

    expect(new Set(after).size).toBe(3);
    expect([after[2], after[1]]).toEqual(before);
  });

  it("of two groups, or of a group and a url, are different", () => {
    const endpoints = someEndpoints(1);
    const keys = [
      ...keysOf({ ...explicit, ...group }, endpoints),
      ...keysOf({ ...explicit, destination: { kind: "group", name: "h" } }, endpoints),
      ...keysOf(explicit),
    ];

    expect(new Set(keys).size).toBe(3);
  });
});
