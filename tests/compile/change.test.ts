/** Tests that the recipes of docs/change compile, and that the compiler names the files which a recipe says it names. */
import { afterAll, describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { blocksOf } from "@posthaste/testing/pages";
import { API } from "typescript/unstable/sync";

const root = resolve(import.meta.dirname, "../..");
const inFile = (file: string): string => resolve(root, file);
const page = readFileSync(inFile("docs/change.md"), "utf8");

type Change = { readonly file: string; readonly before: string; readonly after: string };
type Recipe = {
  readonly title: string;
  readonly changes: readonly Change[];
  /** The files that do not compile after the first change alone. */
  readonly named: readonly string[];
};

const recipes: readonly Recipe[] = [...page.matchAll(/^## (.+)$/gm)].map(
  ({ 0: heading, 1: title = "", index }) => {
    const [text = ""] = page.slice(index + heading.length).split(/^## /m);
    const [first, last] = [index, index + text.length].map(
      (at) => page.slice(0, at).split("\n").length,
    );
    const [, named = ""] = /^(The compiler then names[^]*?)\n\n/m.exec(text) ?? [];
    return {
      title,
      changes: blocksOf("diff change")
        .filter(({ line }) => first !== undefined && line >= first && line < (last ?? 0))
        .map(({ code }) => changeOf(code)),
      named: [...named.matchAll(/`([^`]+\.ts)`/g)].flatMap(([, file]) => file ?? []),
    };
  },
);

function changeOf(code: string): Change {
  const [file = "", ...lines] = code.trimEnd().split("\n");
  const textOf = (signs: string): string =>
    lines.flatMap((line) => (signs.includes(line[0] ?? " ") ? `${line.slice(1)}\n` : [])).join("");
  return { file, before: textOf(" -"), after: textOf(" +") };
}

/** Opens the tree as it would be with these changes. */
function opened(changes: readonly Change[]) {
  const compiler = new API({
    cwd: root,
    fs: {
      readFile: (path: string) => {
        const made = changes.filter(({ file }) => inFile(file) === path);
        return made.length === 0
          ? undefined
          : made.reduce(
              (text, { after, before }) => text.replace(before, () => after),
              readFileSync(path, "utf8"),
            );
      },
    },
  });
  const config = inFile("tsconfig.json");
  const program = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)?.program;
  return {
    close: () => compiler.close(),
    errorsIn: (file: string): readonly string[] =>
      program?.getSemanticDiagnostics(inFile(file)).map(({ text }) => text) ?? ["no program"],
  };
}

describe("a recipe", () => {
  const begun = opened(recipes.flatMap(({ changes: [first] }) => first ?? []));
  const done = opened(recipes.flatMap(({ changes }) => (changes.length > 1 ? changes : [])));

  afterAll(() => {
    begun.close();
    done.close();
  });

  it.each(recipes)("for $title changes a place that exists once", ({ changes }) => {
    expect(changes).not.toEqual([]);
    for (const { before, file } of changes)
      expect([file, readFileSync(inFile(file), "utf8").split(before).length - 1]).toEqual([
        file,
        1,
      ]);
  });

  it.each(recipes.filter(({ changes }) => changes.length > 1))(
    "for $title compiles when it is complete",
    ({ changes, named }) => {
      for (const file of [...changes.map((change) => change.file), ...named])
        expect([file, done.errorsIn(file)]).toEqual([file, []]);
    },
  );

  it.each(recipes.filter(({ named }) => named.length > 0))(
    "for $title does not compile at the place that the page names, once it is begun",
    ({ named }) => {
      for (const file of named)
        expect([file, begun.errorsIn(file)]).toEqual([
          file,
          expect.arrayContaining([expect.any(String)]),
        ]);
    },
  );
});
