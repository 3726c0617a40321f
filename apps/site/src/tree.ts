/** Writes the pages of one tree of this repository for VitePress, with their navigation. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apiPages, type OpenApi } from "./api.ts";
import { frontOf } from "./front.ts";
import { barOf, decisionsOf, type Item, sidebarOf } from "./navigation.ts";
import { forSite, pagesOf } from "./pages.ts";

export type Leads = { readonly bar: readonly Item[]; readonly sidebar: Record<string, Item[]> };

type Asked = {
  readonly root: string;
  /** The folder that is written: its `pages` are for VitePress. */
  readonly target: string;
  readonly published: string;
};

export function writePages({ root, target, published }: Asked): Leads {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  };
  const files = globSync(["*.md", "docs/**/*.md", "bench/*.md", "bench/asked/*.md"], { cwd: root });
  const pages = pagesOf(files.toSorted());
  for (const { source, path } of pages)
    write(path, forSite(read(source), source, { pages, published }));

  const api = apiPages(JSON.parse(read("docs/openapi.json")) as OpenApi);
  for (const [path, text] of api.pages) write(`api/${path}`, text);
  mkdirSync(join(target, "public"), { recursive: true });
  cpSync(join(root, "docs/openapi.json"), join(target, "public/openapi.json"));
  cpSync(join(root, "apps/console/src/icon.svg"), join(target, "public/icon.svg"));
  cpSync(join(root, "docs/images"), join(target, "public/images"), { recursive: true });

  const comparison = "docs/comparison.md";
  const front = frontOf({
    readme: read("README.md"),
    concepts: read("docs/concepts.md"),
    comparison: existsSync(join(root, comparison)) ? read(comparison) : undefined,
  });
  write("index.md", `---\n${JSON.stringify({ layout: "home", front })}\n---\n\n<Front />\n`);

  const sidebar = sidebarOf(read("docs/README.md"), pages);
  const back = { text: "← All pages", link: "/contents" };
  const decisions = decisionsOf(read("docs/adr/README.md"), pages);
  return {
    bar: barOf(sidebar),
    sidebar: {
      "/": [...sidebar],
      "/adr/": [back, { text: "Decisions", link: "/adr/", items: decisions }],
      "/api/": [back, ...api.sidebar],
    },
  };
}
