import { describe, expect, it } from "@jest/globals";
import { type Handlers } from "./handler.ts";

type KeyHandlers = Handlers<"readKeys">;
const keys = { current: "a", next: "b" };

describe("the handlers of a resource", () => {
  it("compile when there is one for each row, with an answer that the row names", () => {
    const handlers: KeyHandlers = { readKeys: async () => ({ status: 200, json: keys }) };

    expect(Object.keys(handlers)).toEqual(["readKeys"]);
  });

  it("do not compile otherwise", () => {
    // @ts-expect-error one is missing
    const missing: KeyHandlers = {};
    // @ts-expect-error one is too many
    const more: KeyHandlers = { readKeys: async () => ({ status: 200, json: keys }), writeKeys: 1 };
    // @ts-expect-error another shape
    const shape: KeyHandlers = { readKeys: async () => ({ status: 200, json: { current: "a" } }) };
    // @ts-expect-error another status
    const status: KeyHandlers = { readKeys: async () => ({ status: 201, json: keys }) };
    // @ts-expect-error a parameter that the path has not
    const named: KeyHandlers = { readKeys: async ({ param }) => param("id") };

    expect([missing, more, shape, status, named]).toHaveLength(5);
  });
});
