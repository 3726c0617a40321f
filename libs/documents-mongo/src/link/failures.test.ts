import { describe, expect, it } from "@jest/globals";
import { RefusedError, StoreError } from "@posthaste/ports";
import { MongoInvalidArgumentError, MongoServerError } from "mongodb";
import { duplicatesIn, isAway, isPassing, portError } from "./failures.ts";

const refusal = (code: number): Error => new MongoServerError({ message: "no", code });

const batch = (...codes: readonly number[]): Error =>
  Object.assign(new Error("some were refused"), {
    name: "MongoBulkWriteError",
    code: codes[0],
    writeErrors: codes.map((code, index) => ({ code, index })),
  });

describe("a failure of the driver", () => {
  it.each<[string, Error]>([
    ["a document that is too large", refusal(10_334)],
    ["one that is too large for the driver", new MongoInvalidArgumentError("too large")],
    ["a bad value", refusal(2)],
    ["one of a batch, behind a duplicate", batch(11_000, 10_334)],
  ])("is a refusal of the request: %s", (_, error) => {
    expect(portError(error)).toBeInstanceOf(RefusedError);
  });

  it.each<[string, Error]>([
    ["a right that is missing, which an operator gives", refusal(13)],
    ["a password that has changed", refusal(18)],
    ["a duplicate", batch(11_000)],
    ["our own mistake", new TypeError("no such thing")],
  ])("is returned unchanged: %s", (_, error) => {
    expect(portError(error)).toBe(error);
  });

  it.each<[string, Error, string]>([
    ["no primary", refusal(10_107), "unavailable"],
    [
      "one of a batch that passes, beside one that is too large",
      batch(10_334, 10_107),
      "unavailable",
    ],
    ["a full disk", refusal(14_031), "disk_full"],
  ])("is reported as a failure of the store: %s", (_, error, code) => {
    const told = portError(error);

    expect(told).toBeInstanceOf(StoreError);
    expect(told).toHaveProperty("code", code);
  });
});

describe("errors after which a call is repeated", () => {
  it.each([
    [133, "no member to read from"],
    [43, "a cursor that was lost"],
    [24, "a lock that was not had in time"],
    [371, "writes that an operator blocks"],
    [112, "a write that conflicts"],
    [100, "a write concern that no members can meet"],
    [64, "a write concern that was not met in time"],
    [365, "a server that is unavailable for a while"],
    [13_388, "a route that is old"],
  ])("is reported as a failure of the store: code %i, %s", (code) => {
    for (const error of [refusal(code), batch(11_000, code)]) {
      expect(isPassing(error)).toBe(true);
      expect(portError(error)).toMatchObject({ name: "StoreError", code: "unavailable" });
    }
  });

  it.each(["RetryableWriteError", "TransientTransactionError", "SystemOverloadedError"])(
    "is the store's trouble: whatever its code, with the label %s",
    (label) => {
      const error = new MongoServerError({ message: "no", code: 999_999, errorLabels: [label] });

      expect(isPassing(error)).toBe(true);
      expect(portError(error)).toMatchObject({ name: "StoreError", code: "unavailable" });
    },
  );

  it("is no read that has had its time, which says nothing of the store", () => {
    const error = refusal(50);

    expect([isPassing(error), isAway(error)]).toEqual([false, false]);
    expect(portError(error)).toMatchObject({ name: "StoreError", code: "overloaded" });
  });

  it("is no error that the server labels otherwise", () => {
    const error = new MongoServerError({
      message: "no",
      code: 13,
      errorLabels: ["NoWritesPerformed"],
    });

    expect(isPassing(error)).toBe(false);
  });
});

describe("a duplicate that the majority may not have yet", () => {
  it("is asked again, and not taken for an existing document", () => {
    const concern = Object.assign(new Error("timed out"), { code: 64 });
    const error = Object.assign(batch(11_000), {
      result: { matchedCount: 0, getWriteConcernError: () => concern },
    });

    expect(() => duplicatesIn(error)).toThrow(error);
    expect(isPassing(error)).toBe(true);
  });
});
