/** Chooses the versions of the site: the main branch, and the last patch of each of the newest minor versions. Pure. */
import { isPrerelease, order } from "../../../scripts/release/version.ts";

export type Version = {
  /** The folder on the site, such as `0.2`. */
  readonly name: string;
  /** The ref of git: a tag or a branch. */
  readonly ref: string;
};

export const next: Version = { name: "next", ref: "main" };

/** A version is supported for two minor versions; readers may use older ones. */
const minorsMax = 5;

/** Returns the versions, the newest release first and the next one last. */
export function versionsOf(tags: readonly string[]): readonly Version[] {
  const released = tags
    .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
    .map((tag) => tag.slice(1))
    .filter((version) => !isPrerelease(version))
    .toSorted((a, b) => order(b, a));
  const minors = new Map<string, Version>();
  for (const version of released) {
    const name = version.slice(0, version.lastIndexOf("."));
    if (!minors.has(name) && minors.size < minorsMax)
      minors.set(name, { name, ref: `v${version}` });
  }
  return [...minors.values(), next];
}

/** Returns the page at the root of the site, which leads to the newest release. */
export function rootPage(base: string, { name }: Version): string {
  const to = `${base}${name}/`;
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Posthaste</title>
  <meta http-equiv="refresh" content="0; url=${to}" />
  <link rel="canonical" href="${to}" />
  <a href="${to}">Posthaste</a>
</html>
`;
}
