// Writes the files that both published packages have in common. A package.json of this repository is private; the
// packed one is made from it and is not.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { homepage } from "./homepage.ts";

const root = dirname(import.meta.dirname);
const { repository } = readJson(root);

/** Writes package.json, LICENSE and README.md of the package that is made in `target` from `source`. */
export function writePublished({ source, target, page, fields }) {
  const { description, keywords, license, type, engines, version } = readJson(source);
  const manifest = {
    name: fields.name,
    version,
    description,
    keywords,
    license,
    homepage,
    bugs: `${homepage}/issues`,
    repository: { ...repository, directory: relative(root, source) },
    type,
    engines,
    ...fields,
    // The public registry shows which workflow made the package, from which commit.
    publishConfig: { access: "public", provenance: true },
  };
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  const text = readFileSync(join(root, "docs", page), "utf8");
  writeFileSync(join(target, "README.md"), withWholeLinks(text, version));
}

/** Makes the links of a page whole. In a package the page is in no folder of pages, so its links name the page of its version. */
function withWholeLinks(text, version) {
  return text.replace(/\]\((?!https?:|#)([^)]+)\)/g, (_, path) => {
    const { pathname, hash } = new URL(path, "file:///docs/");
    return `](${homepage}/blob/v${version}${pathname}${hash})`;
  });
}

function readJson(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
