/** The code on the pages: each fenced block, with the words after its fence, which name its runner (runners.ts). */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Block = {
  /** From the root of the repository. */
  readonly page: string;
  readonly line: number;
  /** Such as `sh`, `sh helm`, `ts`. */
  readonly words: string;
  readonly code: string;
};

const root = join(import.meta.dirname, "../../../..");
const isForeign = (name: string): boolean => name.includes("node_modules") || name === "dist";
const fence = /^```(.*)\n([^]*?)^```$/gm;

export const blocks: readonly Block[] = globSync("**/*.md", { cwd: root, exclude: isForeign })
  .toSorted()
  .flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return [...text.matchAll(fence)].map(({ index, 1: words = "", 2: code = "" }) => ({
      page,
      line: text.slice(0, index).split("\n").length,
      words,
      code,
    }));
  });

/** Returns the blocks that the runner of these words has to run. */
export const blocksOf = (words: string): readonly Block[] =>
  blocks.filter((block) => block.words === words);
