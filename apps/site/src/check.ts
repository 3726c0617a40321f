/** Checks every link of a built site: its file exists, and has its anchor. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "./serve.ts";

/** Returns a line for each broken link within the site, which is under `base`. */
export function deadLinksOf(folder: string, base: string): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsAt = (file: string): ReadonlySet<string> => {
    const known = anchors.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(join(folder, file), "utf8");
    const found = new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id = ""]) => decode(id)));
    anchors.set(file, found);
    return found;
  };
  return globSync("**/*.html", { cwd: folder })
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const links = new Set(
        [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, to = ""]) => to),
      );
      return [...links]
        .filter((link) => !leadsSomewhere(decode(link), file, { folder, base, anchorsAt }))
        .map((link) => `${file} leads to ${link}`);
    });
}

type Site = {
  readonly folder: string;
  readonly base: string;
  readonly anchorsAt: (file: string) => ReadonlySet<string>;
};

const origin = "http://site.invalid";

function leadsSomewhere(link: string, from: string, { folder, base, anchorsAt }: Site): boolean {
  const url = new URL(link, `${origin}${base}${from}`);
  if (url.origin !== origin) return true;
  if (!url.pathname.startsWith(base)) return false;
  const path = decodeURIComponent(url.pathname.slice(base.length));
  const file = filesOf(path).find(
    (name) => existsSync(join(folder, name)) && statSync(join(folder, name)).isFile(),
  );
  if (file === undefined) return false;
  const anchor = decodeURIComponent(url.hash.slice(1));
  return anchor === "" || !file.endsWith(".html") || anchorsAt(file).has(anchor);
}

const decode = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
