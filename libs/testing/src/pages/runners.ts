/**
 * The runners of the blocks of the pages, by the words after their fence: a test, which gets them by `blocksOf`, or a
 * reason why no test does. A block without a runner is refused (ADR 95).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blocks } from "./blocks.ts";

type Runner = { readonly test: string } | { readonly reason: string };

const commandLine = { test: "tests/e2e/command-line-package.alone.e2e.test.ts" };
const clientPackage = { test: "tests/e2e/client-package.alone.e2e.test.ts" };
const examples = { test: "tests/e2e/pages.either.e2e.test.ts" };
const programs = { test: "tests/e2e/programs.either.e2e.test.ts" };
const receivers = { test: "tests/e2e/example-receivers.either.e2e.test.ts" };
const walkThroughs = { test: "tests/e2e/walk-throughs.alone.e2e.test.ts" };
const deployed = { test: "deploy/checks/src/pages/pages.deploy.test.ts" };

const runners: Readonly<Record<string, Runner>> = {
  "": { reason: "a drawing" },
  sh: examples,
  json: examples,
  ts: programs,
  "sh meanwhile": programs,
  "sh start": walkThroughs,
  "sh then": walkThroughs,
  "sh pack-command": commandLine,
  "sh dev": commandLine,
  "sh tour": commandLine,
  "sh posthaste": commandLine,
  "sh pack-client": clientPackage,
  "ts client": clientPackage,
  "sh receiver": receivers,
  "sh publisher": receivers,
  "sh deploy": deployed,
  "yaml values": deployed,
  "sh walk": commandLine,
  "js receiver.mjs": commandLine,
  "sh backup": { test: "tests/e2e/backup.alone.e2e.test.ts" },
  "sh restore": { test: "tests/e2e/backup.alone.e2e.test.ts" },
  "ts migrate": { test: "tests/e2e/migration.alone.e2e.test.ts" },
  "sh migrate": { test: "tests/e2e/migration.alone.e2e.test.ts" },
  "sh measure": { reason: "it takes minutes, and what it writes is checked in" },
  "sh stack": { test: "deploy/local/src/commands/stack.cluster.test.ts" },
  "sh kafka": { test: "libs/bus-kafka/src/made-by-hand.stack.test.ts" },
  "sh simulation": { test: "tests/simulation/page.sim.test.ts" },
  "diff change": { test: "tests/compile/change.test.ts" },
  "sh test": { reason: "it is the run in which the others are checked" },
};

/** Returns one line for each block without a runner. */
export function unclaimedBlocks(): readonly string[] {
  const words = new Set(blocks.map((block) => block.words));
  return [
    ...blocks
      .filter((block) => !(block.words in runners))
      .map(({ page, line, words }) => `${page}:${line}: no test runs a block of "${words}"`),
    ...Object.keys(runners)
      .filter((name) => !words.has(name))
      .map((name) => `runners.ts: no page has a block of "${name}"`),
    ...Object.entries(runners).flatMap(([name, runner]) =>
      "test" in runner && !takes(runner.test, name)
        ? [`${runner.test} does not take the blocks of "${name}"`]
        : [],
    ),
  ];
}

const root = join(import.meta.dirname, "../../../..");

const takes = (test: string, words: string): boolean =>
  existsSync(join(root, test)) && readFileSync(join(root, test), "utf8").includes(`"${words}"`);
