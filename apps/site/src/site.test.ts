import { globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { apiPages, type OpenApi } from "./api.ts";
import { deadLinksOf } from "./check.ts";
import { frontOf } from "./front.ts";
import { barOf, decisionsOf, type Item, sidebarOf } from "./navigation.ts";
import { forSite, pagesOf } from "./pages.ts";
import { versionsOf } from "./versions.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const files = globSync(["*.md", "docs/**/*.md", "bench/*.md", "bench/asked/*.md"], { cwd: root });
const pages = pagesOf(files);
const linksOf = (items: readonly Item[]): readonly string[] =>
  items.flatMap(({ link, items: below = [] }) => [...(link ? [link] : []), ...linksOf(below)]);

describe("links to the pages", () => {
  it("the side bar links to every page of docs except their index, and to no other page", () => {
    const links = linksOf(sidebarOf(read("docs/README.md"), pages));

    const paths = pages.map(({ path }) => `/${path.replace(/(?:index)?\.md$/, "")}`);
    expect(links.filter((link) => !paths.includes(link))).toEqual(["/api/"]);
    const inDocs = pages.filter(({ source }) => /^docs\/(?:design\/)?[^/]+\.md$/.test(source));
    const left = inDocs.filter(({ path }) => !links.includes(`/${path.replace(/\.md$/, "")}`));
    expect(left.map(({ source }) => source)).toEqual(["docs/README.md"]);
  });

  it("the bar at the top has the links that a reader needs", () => {
    const bar = barOf(sidebarOf(read("docs/README.md"), pages));

    expect(bar.map(({ text }) => text)).toEqual([
      ...["Start", "Use", "Operate", "Understand", "Reference", "Compare"],
    ]);
  });

  it("has every decision below its subject, once", () => {
    const links = linksOf(decisionsOf(read("docs/adr/README.md"), pages));

    const all = globSync("docs/adr/0*.md", { cwd: root }).map((file) => file.slice("docs".length));
    expect(links.toSorted()).toEqual(all.map((file) => file.replace(/\.md$/, "")).toSorted());
  });
});

describe("a page of the site", () => {
  const tree = {
    pages: pagesOf(["docs/a.md", "docs/adr/README.md", "docs/adr/0001-b.md", "bench/REPORT.md"]),
    published: "https://git.example/blob/v0.2.0",
  };

  it.each([
    ["docs/a.md", "adr/0001-b.md#why", "/adr/0001-b.md#why"],
    ["docs/adr/0001-b.md", "../a.md", "/a.md"],
    ["docs/a.md", "adr", "/adr/index.md"],
    ["docs/a.md", "../bench/REPORT.md#goals", "/measured/index.md#goals"],
    ["docs/a.md", "../README.md", "/index.md"],
    ["docs/a.md", "../README.md#use", "https://git.example/blob/v0.2.0/README.md#use"],
    ["docs/a.md", "../examples/orders", "https://git.example/blob/v0.2.0/examples/orders"],
    ["docs/a.md", "images/b.webp", "/images/b.webp"],
    ["docs/a.md", "openapi.json", "/openapi.json"],
    ["docs/a.md", "#here", "#here"],
    ["docs/a.md", "https://other.example/a.md", "https://other.example/a.md"],
  ])("of %s links to %s as %s", (source, target, link) => {
    const text = `[one](${target}) \`[two](${target})\` [three](${target})`;

    expect(forSite(text, source, tree)).toContain(
      `source: https://git.example/blob/v0.2.0/${source}\n---\n\n[one](${link}) \`[two](${target})\` [three](${link})`,
    );
  });
});

describe("the versions", () => {
  it("are the last of each of the newest minors, and the next version", () => {
    const tags = [
      ...["v0.9.0", "v0.10.0", "v0.10.2", "v0.10.1", "v1.0.0-rc.1", "v0.8.0", "v0.7.0", "v0.6.0"],
      ...["v0.5.3", "latest", "v2", ""],
    ];

    expect(versionsOf(tags)).toEqual([
      { name: "0.10", ref: "v0.10.2" },
      { name: "0.9", ref: "v0.9.0" },
      { name: "0.8", ref: "v0.8.0" },
      { name: "0.7", ref: "v0.7.0" },
      { name: "0.6", ref: "v0.6.0" },
      { name: "next", ref: "main" },
    ]);
  });
});

describe("the front page", () => {
  it("has the texts of README.md, the concepts and the comparison", () => {
    const front = frontOf({
      readme: read("README.md"),
      concepts: read("docs/concepts.md"),
      comparison: read("docs/comparison.md"),
    });

    expect(front.sentence).toMatch(/^Posthaste takes a message over HTTP .+\.$/);
    expect(front.start).toBe("npm start");
    expect(front.publish).toMatch(/^curl -X POST/);
    expect(front.promises.map(({ title }) => title)).toContain("Never early");
    expect(front.figures).toHaveLength(6);
    for (const { what, value, beside } of front.figures)
      expect(`${what} ${value} ${beside}`).toMatch(/\d/);
    expect(JSON.stringify(front)).not.toMatch(/\]\(|\*\*/);
  });

  it("refuses a page in which it does not find its words", () => {
    const sources = { readme: read("README.md"), concepts: "# Concepts\n", comparison: undefined };

    expect(() => frontOf(sources)).toThrow("docs/concepts.md promises nothing");
  });
});

describe("the figures of the comparison", () => {
  it("are in the report that they name", () => {
    const report = read("bench/REPORT.md");
    const rows = read("docs/comparison.md")
      .split("## In figures")[1]
      ?.split("\n")
      .filter((line) => /^\|.*REPORT\.md#/.test(line));

    expect(rows).not.toHaveLength(0);
    for (const row of rows ?? []) {
      const [, , posthaste = "", beside = ""] = row.split("|");
      const figures = `${posthaste} ${beside}`.replaceAll(/\bp\d+/g, "").match(/\d[\d,.]*\d|\d/g);
      const anchor = /REPORT\.md#([\w-]+)/.exec(row)?.[1] ?? "";
      const section = sectionAt(report, anchor);
      for (const figure of figures ?? [])
        expect({ row, figure, stands: standsIn(section, figure) }).toMatchObject({ stands: true });
    }
  });
});

function sectionAt(report: string, anchor: string): string {
  const slug = (title: string) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
  return report.split(/^## /m).find((part) => slug(part.split("\n")[0] ?? "") === anchor) ?? "";
}

/** Reports whether a figure of the comparison is in the report, exactly or rounded. */
function standsIn(section: string, figure: string): boolean {
  const decimals = figure.split(".")[1]?.length ?? 0;
  const wanted = Number(figure.replaceAll(",", ""));
  const factor = 10 ** decimals;
  return [...section.matchAll(/\d[\d,]*(?:\.\d+)?/g)].some(
    ([found]) =>
      Math.round(Number(found.replaceAll(",", "")) * factor) === Math.round(wanted * factor),
  );
}

describe("the API", () => {
  const document = JSON.parse(read("docs/openapi.json")) as OpenApi;
  const { pages: texts, sidebar } = apiPages(document);

  it("has each operation on one page, with its path, parameters and answers", () => {
    const all = [...texts.values()].join("\n");
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
    );

    for (const { method, path, operationId, parameters = [] } of operations) {
      const anchor = `{:#${method}-${operationId.toLowerCase()}}`;
      expect(all.split(anchor)).toHaveLength(2);
      const text = all.split(anchor)[1]?.split("\n## ")[0];
      expect(text).toContain(path);
      expect(text).toMatch(/\| \*\*2\d\d\*\* \|/);
      for (const { name } of parameters) expect(text).toContain(`\`${name}\``);
    }
  });

  it("leads to pages that are there", () => {
    const paths = linksOf(sidebar).map((link) => link.split("#")[0]);

    for (const path of paths)
      expect([...texts.keys()]).toContain(`${path?.slice("/api/".length) || "index"}.md`);
  });
});

describe("the check of a built site", () => {
  it.each([
    ["a page that is there", '<a href="/docs/b.html">', []],
    ["its anchor", '<a href="b.html#an%20anchor">', []],
    ["an anchor of its own", '<a href="#own">', []],
    ["a folder with an index", '<a href="/docs/c/">', []],
    ["another site", '<a href="https://other.example/x">', []],
    ["no page", '<a href="x.html">', ["a.html leads to x.html"]],
    ["no anchor", '<a href="b.html#x">', ["a.html leads to b.html#x"]],
    ["no picture", '<img src="x.webp">', ["a.html leads to x.webp"]],
    ["beyond the base", '<a href="/b.html">', ["a.html leads to /b.html"]],
  ])("follows a link to %s", (_, link, dead) => {
    const folder = mkdtempSync(join(tmpdir(), "posthaste-site-"));
    const files = {
      "a.html": `<h2 id="own"></h2>${link}`,
      "b.html": '<h2 id="an anchor"></h2>',
      "c/index.html": "",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }

    expect(deadLinksOf(folder, "/docs/")).toEqual(dead);
  });
});
