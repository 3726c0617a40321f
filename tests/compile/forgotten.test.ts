/** Tests that an addition to a filter, a policy or a union in only one place does not compile, by giving the compiler a tree with that addition. */
import { afterAll, describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { API, type Diagnostic } from "typescript/unstable/sync";

const root = resolve(import.meta.dirname, "../..");

type Addition = {
  readonly to: string;
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly readers: readonly string[];
};

const field = (filter: string, file: string, readers: readonly string[], also = ""): Addition => {
  const before = `export type ${filter} = ${also}{\n`;
  const after = `${before}  readonly ${addedTo(filter)}?: readonly string[];\n`;
  return { to: filter, file, before, after, readers };
};

const member = (list: string, file: string, readers: readonly string[]): Addition => {
  const before = `export const ${list} = [`;
  return { to: list, file, before, after: `${before}"${addedTo(list)}", `, readers };
};

const addedTo = (place: string): string => `addedTo${place}`;

const filters = "libs/domain/src/query/filter.ts";
const ofMessages = "libs/domain/src/query/matches.ts";
const ofRuns = "libs/domain/src/query/run-filter.ts";
const parsedRuns = "libs/contract/src/queries/run-filter.ts";
const storedRuns = "libs/documents-mongo/src/runs/run-log.ts";
const drawn = "libs/testing/src/builders/drawn.ts";

const additions: readonly Addition[] = [
  field("MessageFilter", filters, [
    ofMessages,
    "libs/documents-mongo/src/query/conditions.ts",
    "libs/contract/src/queries/message-filter.ts",
    drawn,
  ]),
  field(
    "LogFilter",
    filters,
    [
      ofMessages,
      "libs/documents-mongo/src/message-log/reading.ts",
      "libs/contract/src/endpoints/message-log.ts",
      drawn,
    ],
    "MessageFilter & ",
  ),
  field(
    "DeadLetterFilter",
    filters,
    [
      ofMessages,
      "libs/documents-mongo/src/dead-letters.ts",
      "libs/contract/src/endpoints/dead-letters.ts",
      drawn,
    ],
    "MessageFilter & ",
  ),
  field("RunFilter", ofRuns, [
    ofRuns,
    storedRuns,
    parsedRuns,
    "libs/contract/src/queries/run-selection.ts",
    drawn,
  ]),
  field(
    "FailedRunFilter",
    ofRuns,
    [ofRuns, storedRuns, parsedRuns, drawn],
    'Omit<RunFilter, "states" | "runs" | "roots"> & ',
  ),
  field("Policy", "libs/domain/src/message/policy.ts", [
    "libs/domain/src/message/policy.ts",
    "libs/contract/src/headers/policy-settings.ts",
  ]),
  member("rowSources", "libs/domain/src/message/alarm.ts", ["libs/engine/src/ring/ring.ts"]),
  member("liveKinds", "libs/domain/src/message/message.ts", [
    "libs/embedded/src/messages/records.ts",
  ]),
  member("logStates", "libs/domain/src/message/log.ts", ["libs/domain/src/message/log.ts"]),
  member("followUpKinds", "libs/domain/src/message/follow-up.ts", [
    "libs/engine/src/follow-up/follow-up-workers.ts",
  ]),
];

const inFile = (file: string): string => resolve(root, file);

function withAdditions(path: string): string | undefined {
  const made = additions.filter(({ file }) => inFile(file) === path);
  if (made.length === 0) return undefined;
  const text = readFileSync(path, "utf8");
  return made.reduce((changed, { before, after }) => changed.replace(before, after), text);
}

const textsOf = ({ text, messageChain = [] }: Diagnostic): readonly string[] => [
  text,
  ...messageChain.flatMap(textsOf),
];

describe("an addition in only one place", () => {
  const compiler = new API({ cwd: root, fs: { readFile: withAdditions } });
  const config = inFile("tsconfig.json");
  const program = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)?.program;

  afterAll(() => compiler.close());

  it.each(additions)(
    "to $to does not compile where it is read",
    ({ to, file, before, readers }) => {
      expect(readFileSync(inFile(file), "utf8").split(before)).toHaveLength(2);

      for (const reader of readers)
        expect([reader, program?.getSemanticDiagnostics(inFile(reader)).flatMap(textsOf)]).toEqual([
          reader,
          expect.arrayContaining([expect.stringContaining(addedTo(to))]),
        ]);
    },
  );
});
