/** Makes the navigation from docs/README.md, and that of the decisions from docs/adr/README.md. Pure. */
import { posix } from "node:path";
import { isExternal } from "../../../scripts/links.ts";
import { type Page } from "./pages.ts";

/** An item as VitePress has it in its side bar. */
export type Item = {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Item[];
};

const open = new Set(["Start", "Use"]);

/** Returns one group for each heading of the second level, with a group inside for each heading of the third. */
export function sidebarOf(contents: string, pages: readonly Page[]): readonly Item[] {
  return partsOf(contents, "##").map(({ title, text }) => {
    const [own = "", ...rest] = text.split(/^(?=### )/m);
    const below = partsOf(rest.join(""), "###").flatMap((part): readonly Item[] => {
      const items = linksIn(part.text, "docs/README.md", pages);
      return items.length === 1 ? items : [{ text: part.title, items }];
    });
    const items = [...linksIn(own, "docs/README.md", pages), ...below];
    return { text: title, collapsed: !open.has(title), items };
  });
}

export function decisionsOf(index: string, pages: readonly Page[]): readonly Item[] {
  return partsOf(index, "##").map(({ title, text }) => ({
    text: title,
    collapsed: true,
    items: [...text.matchAll(/^- \[(\d+)\]\(([^)]+)\) (.+)$/gm)].flatMap(
      ([, number = "", target = "", says = ""]) => {
        const link = pageAt(target, "docs/adr/README.md", pages);
        return link === undefined ? [] : [{ text: `${number} · ${plain(says)}`, link }];
      },
    ),
  }));
}

/** Returns the first page of each group, for the bar at the top. */
export function barOf(sidebar: readonly Item[]): readonly Item[] {
  return sidebar.flatMap(({ text, items = [] }) => {
    const link = firstLink(items);
    return link === undefined ? [] : [{ text, link }];
  });
}

const firstLink = (items: readonly Item[]): string | undefined =>
  items.map((item) => item.link ?? firstLink(item.items ?? [])).find((link) => link !== undefined);

function partsOf(text: string, mark: string) {
  return text
    .split(new RegExp(`^${mark} `, "m"))
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { title: part.slice(0, end).trim(), text: part.slice(end) };
    });
}

/** Returns the targets of the lines of a list, as far as these are pages. */
function linksIn(text: string, from: string, pages: readonly Page[]): readonly Item[] {
  const lines = text.split("\n").filter((line) => /^(?:-|\d+\.) /.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].flatMap(([, says = "", target = ""]) => {
      const link = pageAt(target, from, pages);
      return link === undefined ? [] : [{ text: plain(says), link }];
    }),
  );
}

function pageAt(target: string, from: string, pages: readonly Page[]): string | undefined {
  if (isExternal(target)) return undefined;
  const file = posix.normalize(posix.join(posix.dirname(from), target));
  if (file === "docs/openapi.json") return "/api/";
  const page = pages.find(({ source }) => source === file);
  return page && `/${page.path.replace(/(?:index)?\.md$/, "")}`;
}

const plain = (text: string): string => text.replaceAll("`", "");
