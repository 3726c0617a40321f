/**
 * The pages of the site: the file of each in the repository, and its links turned into links of the site. Files that
 * are not pages, such as an example or a test, are linked to where the repository is published. Pure.
 */
import { posix } from "node:path";
import { isExternal, linksOf } from "../../../scripts/links.ts";

export type Page = {
  /** In the repository, such as `docs/publish.md`. */
  readonly source: string;
  /** On the site, such as `publish.md`. */
  readonly path: string;
};

const fixed: Readonly<Record<string, string>> = {
  "docs/README.md": "contents.md",
  "docs/adr/README.md": "adr/index.md",
  "bench/REPORT.md": "measured/index.md",
  "CHANGELOG.md": "changelog.md",
  "CODE_OF_CONDUCT.md": "code-of-conduct.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
};
const folders = [
  { from: "docs/", to: "" },
  { from: "bench/asked/", to: "measured/" },
];

export function pagesOf(files: readonly string[]): readonly Page[] {
  return files.flatMap((source) => {
    const path = pathOf(source);
    return path === undefined ? [] : [{ source, path }];
  });
}

function pathOf(source: string): string | undefined {
  if (!source.endsWith(".md")) return undefined;
  const named = fixed[source];
  if (named !== undefined) return named;
  const folder = folders.find(({ from }) => source.startsWith(from));
  return folder && folder.to + source.slice(folder.from.length).toLowerCase();
}

type Tree = {
  readonly pages: readonly Page[];
  /** Where a file of this tree is published, such as `https://github.com/…/blob/v0.2.0`. */
  readonly published: string;
};

/** Returns the text of a page for the site, with its source in front. */
export function forSite(text: string, source: string, { pages, published }: Tree): string {
  const paths = new Map(pages.map((page) => [page.source, `/${page.path}`]));
  const turned = linksOf(text)
    .filter(({ target }) => !isExternal(target) && !target.startsWith("#"))
    .toSorted((a, b) => b.at - a.at)
    .reduce((left, { target, at }) => {
      const link = linkOf(target, source, paths, published);
      return left.slice(0, at) + link + left.slice(at + target.length);
    }, text);
  return `---\nsource: ${published}/${source}\n---\n\n${turned}`;
}

function linkOf(
  target: string,
  from: string,
  paths: ReadonlyMap<string, string>,
  published: string,
): string {
  const [path = "", heading] = target.split("#");
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  const anchor = heading === undefined ? "" : `#${heading}`;
  const page = paths.get(file) ?? paths.get(posix.join(file, "README.md"));
  // The front page has no headings of the file that it replaces.
  if (file === "README.md" && heading === undefined) return "/index.md";
  if (page !== undefined) return page + anchor;
  // A picture of a page is copied beside it.
  if (/\.(?:png|svg|webp)$/.test(file) && file.startsWith("docs/"))
    return `/${file.slice("docs/".length)}`;
  if (file === "docs/openapi.json") return "/openapi.json";
  return `${published}/${file}${anchor}`;
}
