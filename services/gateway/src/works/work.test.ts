import { describe, expect, it } from "@jest/globals";
import { type Works } from "./work.ts";

type KeyWorks = Works<"readKeys">;
const keys = { current: "a", next: "b" };

describe("the works of a resource", () => {
  it("compile when there is one for each row, with an answer that the row names", () => {
    const works: KeyWorks = { readKeys: async () => ({ status: 200, json: keys }) };

    expect(Object.keys(works)).toEqual(["readKeys"]);
  });

  it("do not compile otherwise", () => {
    // @ts-expect-error one is missing
    const missing: KeyWorks = {};
    // @ts-expect-error one is too many
    const more: KeyWorks = { readKeys: async () => ({ status: 200, json: keys }), writeKeys: 1 };
    // @ts-expect-error another shape
    const shape: KeyWorks = { readKeys: async () => ({ status: 200, json: { current: "a" } }) };
    // @ts-expect-error another status
    const status: KeyWorks = { readKeys: async () => ({ status: 201, json: keys }) };
    // @ts-expect-error a parameter that the path has not
    const named: KeyWorks = { readKeys: async ({ param }) => param("id") };

    expect([missing, more, shape, status, named]).toHaveLength(5);
  });
});
