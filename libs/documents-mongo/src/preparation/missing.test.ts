import { describe, expect, it } from "@jest/globals";
import { type Index } from "../indexes.ts";
import { stepsOf } from "./missing.ts";

const index = (collection: string, field: string, is: Index["is"]): Index => ({
  ...{ collection, is },
  key: { [field]: 1 },
});
const shown = (missing: readonly Index[], small: readonly string[]): readonly string[] =>
  stepsOf(missing, (collection) => small.includes(collection)).map(
    ({ collection, indexes }) =>
      `${collection}: ${indexes.flatMap(({ key }) => Object.keys(key)).join()}`,
  );

describe("indexes are built", () => {
  const missing = [
    index("large", "a", "wanted"),
    index("large", "b", "needed"),
    index("larger", "c", "needed"),
    index("small", "d", "wanted"),
    index("small", "e", "needed"),
    index("lists", "f", "wanted"),
  ];

  it("in a new database so that nothing is missing once the last needed one is there", () => {
    expect(shown(missing, ["large", "larger", "lists", "small"])).toEqual([
      "lists: f",
      "large: a,b",
      "larger: c",
      "small: d,e",
    ]);
  });

  it("of large collections first where they are needed, then where they are wanted", () => {
    expect(shown(missing, ["lists", "small"])).toEqual([
      "lists: f",
      "small: d,e",
      "large: b",
      "larger: c",
      "large: a",
    ]);
  });

  it("on no collection when none is missing", () => {
    expect(shown([], ["small"])).toEqual([]);
  });
});
