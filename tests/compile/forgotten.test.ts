/** An addition to a filter or a union in one place alone does not compile: the compiler reads a tree in which that was done. */
import { describe, expect, it } from "@jest/globals";
import { resolve } from "node:path";
import ts from "typescript";

const root = resolve(import.meta.dirname, "../..");

type Addition = {
  readonly to: string;
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** Each fails to compile. */
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
  member("liveKinds", "libs/domain/src/message/message.ts", [
    "libs/embedded/src/messages/records.ts",
  ]),
  member("logStates", "libs/domain/src/message/log.ts", ["libs/domain/src/message/log.ts"]),
  member("followUpKinds", "libs/domain/src/message/follow-up.ts", [
    "libs/engine/src/follow-up/follow-up-workers.ts",
  ]),
];

const read = (file: string): ts.ParsedCommandLine => {
  const config = ts.readConfigFile(resolve(root, file), (path) => ts.sys.readFile(path));
  return ts.parseJsonConfigFileContent(config.config, ts.sys, root);
};

function errorsIn(program: ts.Program, file: string): readonly string[] {
  const source = program.getSourceFile(resolve(root, file));
  return program
    .getSemanticDiagnostics(source)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("what is added in one place alone", () => {
  const { options } = read("tsconfig.json");
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (path) => {
    const text = readFile(path);
    return additions
      .filter(({ file }) => resolve(root, file) === path)
      .reduce((changed, { before, after }) => changed?.replace(before, after), text);
  };
  const readers = [...new Set(additions.flatMap((each) => each.readers))];
  const program = ts.createProgram(
    readers.map((file) => resolve(root, file)),
    options,
    host,
  );

  it.each(additions)(
    "to $to does not compile where it is read",
    ({ to, file, before, readers: all }) => {
      expect(readFile(resolve(root, file))?.split(before)).toHaveLength(2);

      for (const reader of all)
        expect([reader, errorsIn(program, reader)]).toEqual([
          reader,
          expect.arrayContaining([expect.stringContaining(addedTo(to))]),
        ]);
    },
  );
});
