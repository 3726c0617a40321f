import { describe, expect, it } from "@jest/globals";
import { anchorsOf, linksOf } from "./links.ts";

describe("the links of a page", () => {
  it.each([
    ["a link", "see [this](a.md#b) and", ["a.md#b"]],
    ["a title", '[this](a.md "A title")', ["a.md"]],
    ["a picture that links", "[![x](x.webp)](a.md)", ["x.webp", "a.md"]],
    ["a definition", "[this][a]\n\n[a]: a.md#b\n", ["a.md#b"]],
    ["HTML", '<a href="a.md">x</a> <img src="b.svg">', ["a.md", "b.svg"]],
    ["code in a link", "[`a`](a.md)", ["a.md"]],
    ["none in code", "`[this](a.md)` and ``[that](`b`)``", []],
    ["none in a block", "```md\n[this](a.md)\n```\n\n~~~\n[that](b.md)\n~~~\n", []],
    ["one after a block with a fence inside", "````md\n```\n````\n[this](a.md)", ["a.md"]],
  ])("are read: %s", (_, text, targets) => {
    const links = linksOf(text);

    expect(links.map(({ target }) => target).toSorted()).toEqual(targets.toSorted());
    for (const { target, at } of links) expect(text.slice(at).startsWith(target)).toBe(true);
  });
});

describe("the anchors of a page", () => {
  it.each([
    ["## What is promised", "what-is-promised"],
    ["## `GET /v2/queues`", "get-v2queues"],
    ["### Kafka, Redis & MongoDB", "kafka-redis--mongodb"],
    ["## [0.2.0](a.md) of *May*", "020-of-may"],
    ["## POSTHASTE_TOKEN and _this_", "posthaste_token-and-this"],
    ["# Größe ÷ 2", "größe--2"],
    ["## Closed ##", "closed"],
    ['<a id="Named"></a>', "Named"],
  ])("are the anchors of GitHub: %s", (text, anchor) =>
    expect([...anchorsOf(`${text}\n`)]).toEqual([anchor]),
  );

  it("are numbered if a heading occurs again", () => {
    expect([...anchorsOf("# A\n\n## A\n\n## A\n")]).toEqual(["a", "a-1", "a-2"]);
  });

  it("are no comments of a block of code", () => {
    expect([...anchorsOf("```sh\n# a comment\n```\n\n## A\n")]).toEqual(["a"]);
  });
});
