import { describe, expect, it } from "@jest/globals";
import { removeEndpoints, upsertEndpoints } from "./url-group.ts";

const a = { url: "https://a.example/" };
const b = { url: "https://b.example/" };
const named = { url: "https://c.example/", name: "c" };

describe("upserting endpoints", () => {
  it("adds them in the order in which they come", () => {
    expect(upsertEndpoints([a], [named, b])).toEqual([a, named, b]);
  });

  it("replaces an endpoint of the same name in its place", () => {
    const moved = { url: "https://elsewhere.example/", name: "c" };

    expect(upsertEndpoints([a, named, b], [moved])).toEqual([a, moved, b]);
  });

  it("knows an endpoint without a name by its url", () => {
    expect(upsertEndpoints([a, b], [a])).toEqual([a, b]);
  });

  it("knows an endpoint by its url however that is written", () => {
    const written = { url: "https://a.example/\u{e4}" };
    const standard = { url: "https://a.example/%C3%A4" };

    expect(upsertEndpoints([written], [standard])).toEqual([standard]);
    expect(removeEndpoints([written], [standard])).toEqual([]);
  });

  it("keeps a named and a nameless endpoint of one url apart", () => {
    const alias = { url: a.url, name: "alias" };

    expect(upsertEndpoints([a], [alias])).toEqual([a, alias]);
  });

  it("without a name leaves an endpoint of that url its name", () => {
    expect(upsertEndpoints([named, b], [{ url: named.url }])).toEqual([named, b]);
  });

  it("of one batch keeps the last of a name", () => {
    const later = { url: "https://later.example/", name: "c" };

    expect(upsertEndpoints([], [named, later])).toEqual([later]);
  });

  it("does not confuse a name with a url of the same text", () => {
    const confusing = { url: "https://x.example/", name: a.url };

    expect(upsertEndpoints([a], [confusing])).toEqual([a, confusing]);
  });
});

describe("removing endpoints", () => {
  it("finds them by name or by url, and leaves the others in order", () => {
    expect(removeEndpoints([a, named, b], [{ name: "c" }, { url: a.url }])).toEqual([b]);
  });

  it("by url finds named ones, too", () => {
    expect(removeEndpoints([named, b], [{ url: named.url }])).toEqual([b]);
  });

  it("by name and url uses the name", () => {
    expect(removeEndpoints([a, named], [{ name: "c", url: a.url }])).toEqual([a]);
  });

  it("of missing endpoints, or of none, changes nothing", () => {
    expect(
      removeEndpoints([a, b], [{ name: "nobody" }, { url: "https://nowhere.example/" }, {}]),
    ).toEqual([a, b]);
  });
});
