/** Reads the links of a Markdown page, and the anchors that GitHub and the site give its headings. Pure. */

export type Link = {
  readonly target: string;
  /** Where the target begins in the text of the page. */
  readonly at: number;
};

const fenced = /^ *(`{3,}|~{3,})[^\n]*\n[^]*?^ *\1[`~]* *$/gm;
const inlineCode = /(`+)[^`\n]*\n?[^`\n]*\1/g;
/** Matches a link or a picture in a line, a definition of one, and HTML. */
const links = [
  /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/dg,
  /^\[[^\]]+\]:\s*<?([^\s>]+)/dgm,
  /\b(?:href|src)="([^"]+)"/dg,
];

/** Returns the links of a page outside of code. */
export function linksOf(text: string): readonly Link[] {
  const prose = blank(text, [fenced, inlineCode]);
  return links.flatMap((pattern) =>
    [...prose.matchAll(pattern)].map(({ 1: target = "", indices }) => ({
      target,
      at: indices?.[1]?.[0] ?? 0,
    })),
  );
}

/** Returns the anchors of a page. A heading that occurs twice has a number the second time. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const prose = blank(text, [fenced]);
  const anchors = new Set([...prose.matchAll(/\bid="([^"]+)"/g)].map(([, id = ""]) => id));
  for (const [, title = ""] of prose.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = slugOf(withoutMarks(title));
    let anchor = slug;
    for (let nth = 1; anchors.has(anchor); nth++) anchor = `${slug}-${nth}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the anchor of a heading whose text is `title`, without marks. */
export function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Reports whether a link leads out of the repository: by a scheme, or by beginning with `//`. */
export const isExternal = (target: string): boolean => /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(target);

function withoutMarks(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/(^|\W)([_*]{1,3})(\S(?:.*?\S)?)\2(?=\W|$)/g, "$1$3");
}

/** Replaces what matches by spaces, so that places stay. */
function blank(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce(
    (left, pattern) => left.replaceAll(pattern, (match) => match.replaceAll(/[^\n]/g, " ")),
    text,
  );
}
