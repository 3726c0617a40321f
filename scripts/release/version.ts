/** Versions of releases: where they are written, and which are allowed. Pure. */
const shape = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Returns why this cannot be the next version, or undefined. `released` is the version of the last tag, if there is one. */
export function whyNoVersion(version: string, released?: string): string | undefined {
  if (!shape.test(version)) return `${version} is not a version such as 0.2.0 or 0.2.0-rc.1`;
  if (released === undefined || order(version, released) > 0) return undefined;
  return `${version} does not come after ${released}, which is tagged`;
}

export const isPrerelease = (version: string): boolean => version.includes("-");

/** Orders two versions as semantic versioning does. */
export function order(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  const different = left.numbers.map((number, at) => number - (right.numbers[at] ?? 0));
  const first = different.find((each) => each !== 0);
  if (first !== undefined) return first;
  return orderPrereleases(left.names, right.names);
}

function partsOf(version: string) {
  const [numbers = "", ...rest] = version.split("-");
  const names = rest.length === 0 ? [] : rest.join("-").split(".");
  return { numbers: numbers.split(".").map(Number), names };
}

/** A version without a prerelease comes after those with one. */
function orderPrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [at, a] of left.entries()) {
    const b = right[at];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumber && isOther) return Number(a) - Number(b);
    if (isNumber !== isOther) return isNumber ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return left.length - right.length;
}

/** Returns the text of a file with another version of Posthaste, or the same text if it contains none. */
export function withVersion(path: string, text: string, from: string, to: string): string {
  if (path.endsWith("package.json"))
    return text.replace(`\n  "version": "${from}",`, `\n  "version": "${to}",`);
  if (path.endsWith("Chart.yaml"))
    return text
      .replace(/^version: .*$/m, `version: ${to}`)
      .replace(/^appVersion: .*$/m, `appVersion: "${to}"`);
  // Pages name the packed files, and the command that makes them.
  return text.replace(
    /((?:release -- |posthaste(?:-client|-chart|-image)?-))\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+?)?(?=\.(?:tgz|tar\.gz)| --)/g,
    `$1${to}`,
  );
}
