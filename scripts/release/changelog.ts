/** The changelog's sections. Pure. */
const unreleased = "## Unreleased";
/** A section lists at most this many commits, and says how many it left out. */
const subjectsMax = 200;

type Section = {
  readonly version: string;
  readonly date: string;
  readonly subjects: readonly string[];
};

/**
 * Turns the unreleased part into the section of a version: its text, then the subjects of the commits. A changelog
 * that has the section stays as it is.
 */
export function withSection(text: string, { version, date, subjects }: Section): string {
  if (sectionOf(text, version) !== undefined) return text;
  const at = text.indexOf(`\n${unreleased}\n`);
  if (at < 0) throw new Error(`CHANGELOG.md has no "${unreleased}"`);
  const begin = at + unreleased.length + 2;
  const next = text.indexOf("\n## ", begin);
  const end = next < 0 ? text.length : next;
  const words = text.slice(begin, end).trim();
  const listed = subjects.slice(0, subjectsMax).map((subject) => `- ${escaped(subject)}`);
  const more = subjects.length - listed.length;
  const commits = [
    ...(listed.length > 0 ? ["### Commits", "", ...listed] : []),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
  const section = [`## ${version} - ${date}`, words, commits].filter((part) => part !== "");
  return `${text.slice(0, begin)}\n${section.join("\n\n")}\n${text.slice(end)}`;
}

export function sectionOf(text: string, version: string): string | undefined {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`## ${version} - `));
  if (begin < 0) return undefined;
  const length = lines.slice(begin + 1).findIndex((line) => line.startsWith("## "));
  const end = length < 0 ? lines.length : begin + 1 + length;
  return lines
    .slice(begin + 1, end)
    .join("\n")
    .trim();
}

const escaped = (subject: string): string => subject.replace(/[\\`*_<>[\]]/g, "\\$&");
