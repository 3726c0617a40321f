/** Reads from pages the content of the front page: the sentence, the commands, the promises and the figures. Pure. */

export type Front = {
  readonly sentence: string;
  readonly start: string;
  readonly publish: string;
  readonly promises: readonly { readonly title: string; readonly text: string }[];
  readonly figures: readonly {
    readonly value: string;
    readonly what: string;
    readonly beside: string;
  }[];
};

export type FrontSources = {
  readonly readme: string;
  readonly concepts: string;
  /** Absent in releases that were made before it. */
  readonly comparison: string | undefined;
};

export function frontOf({ readme, concepts, comparison }: FrontSources): Front {
  const [, sentence] = must(
    /^# .+\n\n([^]+?)\n\n/.exec(readme),
    "README.md begins with no sentence",
  );
  const [, start] = must(/^```sh start\n([^]+?)```$/m.exec(readme), "README.md has no start");
  const [, publish] = must(/^```sh then\n([^]+?)```$/m.exec(readme), "README.md has no publish");
  const promised = sectionOf(concepts, "What is promised");
  const promises = [...promised.matchAll(/^- \*\*(.+?)\*\*(.*)$/gm)].map(
    ([, title = "", text = ""]) => ({
      title: title.replace(/\.$/, ""),
      text: sentenceCase(withoutMarks(text.replace(/^[,.]?\s*/, ""))),
    }),
  );
  must(promises.length > 0 || null, "docs/concepts.md promises nothing");
  return {
    sentence: withoutMarks(sentence ?? "").replaceAll("\n", " "),
    start: (start ?? "").trim(),
    publish: (publish ?? "").trim(),
    promises,
    figures: comparison === undefined ? [] : figuresOf(comparison),
  };
}

/** Returns the rows of the table under "In figures": the measure, Posthaste's figure, and the figure beside it, without their ranges. */
function figuresOf(comparison: string): Front["figures"] {
  return sectionOf(comparison, "In figures")
    .split("\n")
    .filter((line) => /^\|(?! *(?:---|what))/.test(line))
    .slice(0, figuresMax)
    .map((line) => {
      const [what = "", value = "", beside = ""] = line
        .split("|")
        .slice(1)
        .map((cell) => cell.replaceAll(/ \([\d.,–]+\)/g, "").trim());
      return { what: withoutMarks(what), value: withoutMarks(value), beside: withoutMarks(beside) };
    });
}

const figuresMax = 6;

function sectionOf(page: string, title: string): string {
  const parts = page.split(/^## /m);
  return parts.find((part) => part.startsWith(`${title}\n`)) ?? "";
}

const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const withoutMarks = (text: string): string =>
  text
    .replaceAll(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replaceAll(/\*\*|`/g, "")
    .trim();

function must<Found>(found: Found | null, why: string): Found {
  if (found === null) throw new Error(why);
  return found;
}
