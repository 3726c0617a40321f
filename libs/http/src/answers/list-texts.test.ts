import { describe, expect, it } from "@jest/globals";
import { listTexts } from "./list-texts.ts";

async function* pagesOf(pages: readonly (readonly object[])[]) {
  for (const page of pages) yield page;
}

async function texts(pages: readonly (readonly object[])[]): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const text of listTexts(pagesOf(pages))) all.push(text);
  return all;
}

describe("a list in pages", () => {
  it.each([
    [[], []],
    [[[]], []],
    [[[{ a: 1 }]], [{ a: 1 }]],
    [
      [[], [{ a: 1 }, { a: 2 }], [], [{ a: 3 }], []],
      [{ a: 1 }, { a: 2 }, { a: 3 }],
    ],
  ])("%j is one bare array", async (pages, whole) => {
    expect(JSON.parse((await texts(pages)).join(""))).toEqual(whole);
  });

  it("has a piece for each page, and none for all of them", async () => {
    const pages = Array.from({ length: 20 }, (_, page) => [{ page }]);

    expect(await texts(pages)).toHaveLength(21);
  });
});
