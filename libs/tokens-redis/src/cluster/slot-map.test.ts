import { describe, expect, it } from "@jest/globals";
import { endpointIn } from "../link/dial.ts";
import { addressOf, endpointOf, redirectionIn, slotMapIn } from "./slot-map.ts";

const asked = { host: "seed.example", port: 7_000 };
const info = "cluster_state:ok\r\ncluster_current_epoch:6\r\n";

describe("the map of the slots", () => {
  it("has the master of each range, by the name that the nodes prefer", () => {
    const map = slotMapIn(
      [
        [0, 5_460, ["10.0.0.1", 7_001, "id", []], ["10.0.0.4", 7_004, "id", []]],
        [5_461, 16_382, ["two.example", 7_002, "id", ["ip", "10.0.0.2"]]],
      ],
      info,
      asked,
    );

    expect([0, 5_460, 5_461, 16_382, 16_383].map((slot) => map.owners[slot])).toEqual([
      "10.0.0.1:7001",
      "10.0.0.1:7001",
      "two.example:7002",
      "two.example:7002",
      undefined,
    ]);
    expect(map).toMatchObject({ epoch: 6, missing: 1 });
  });

  it.each([[null], [""], ["?"]])(
    "takes a node that calls itself %j to be where it was asked",
    (host) => {
      const map = slotMapIn([[0, 16_383, [host, 7_001, "id"]]], info, asked);

      expect(map.owners[9]).toBe("seed.example:7001");
    },
  );

  it.each([[undefined], [null], ["OK"], [[["x"]]], [[[0, 1]]], [[[-5, 99_999, ["a", 1]]]]])(
    "is one of 16,384 slots whatever a node answers: %j",
    (slots) => {
      expect(slotMapIn(slots, "", asked).owners).toHaveLength(16_384);
    },
  );
});

describe("a redirection", () => {
  it.each([
    ["MOVED 3999 127.0.0.1:6381", { kind: "moved", slot: 3_999, to: "127.0.0.1:6381" }],
    ["MOVED 3999 node.example:6381", { kind: "moved", slot: 3_999, to: "node.example:6381" }],
    ["ASK 0 ::1:6381", { kind: "ask", slot: 0, to: "::1:6381" }],
    ["MOVED 3999 :6381", { kind: "moved", slot: 3_999, to: "seed.example:6381" }],
    ["TRYAGAIN Multiple keys request during rehashing of slot", { kind: "split" }],
  ])("is read from %j", (error, redirection) => {
    expect(redirectionIn(error, asked)).toEqual(redirection);
  });

  it.each([
    ["CLUSTERDOWN The cluster is down"],
    ["ERR unknown command"],
    ["MOVED"],
    ["READONLY You can't write against a read only replica."],
    ["no answer within 50 ms"],
  ])("is not recognized: %j", (error) => {
    expect(redirectionIn(error, asked)).toBeUndefined();
  });
});

describe("an address", () => {
  it.each([
    ["redis", { host: "redis", port: 6_379 }],
    ["redis:7000", { host: "redis", port: 7_000 }],
    ["10.0.0.1:7000", { host: "10.0.0.1", port: 7_000 }],
    ["[fd00::1]:7000", { host: "fd00::1", port: 7_000 }],
    ["[fd00::1]", { host: "fd00::1", port: 6_379 }],
  ])("is read from %j", (text, endpoint) => {
    expect(endpointIn(text, 6_379)).toEqual(endpoint);
    expect(endpointOf(addressOf(endpoint))).toEqual(endpoint);
  });
});
