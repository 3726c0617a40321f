/** The differences of the packed chart from the chart of a checkout. Pure. */
import { isPrerelease } from "./version.ts";

/** Artifact Hub shows at most this many changes. */
const changesMax = 50;

/** Returns the image of a repository at GitHub, in the registry beside it. */
export const imageOf = (homepage) => `ghcr.io/${new URL(homepage).pathname.slice(1).toLowerCase()}`;

/** Returns an edit for each file that differs. */
export function packedChart({ image, version, notes, homepage }) {
  const changes = notes
    .replace(/\n {2}(?=\S)/g, " ")
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .slice(0, changesMax)
    .map((line) => `    - ${JSON.stringify(line.slice(2).replace(/\\(.)/g, "$1"))}`);
  const lines = [
    `  artifacthub.io/prerelease: "${isPrerelease(version)}"`,
    "  artifacthub.io/images: |",
    "    - name: posthaste",
    `      image: ${image}`,
    ...(changes.length > 0 ? ["  artifacthub.io/changes: |", ...changes] : []),
  ];
  return {
    // `annotations` is the last key of the file.
    "Chart.yaml": (text) =>
      `${text.trimEnd().replaceAll("/tree/main/", `/tree/v${version}/`)}\n${lines.join("\n")}\n`,
    "values.yaml": (text) => {
      const own = "  repository: posthaste\n";
      if (!text.includes(own)) throw new Error(`values.yaml has no line "${own.trim()}"`);
      return text.replace(own, `  repository: ${imageOf(homepage)}\n`);
    },
  };
}
