/** Tests that each command line of docs/cli.md parses, and that its table names all commands. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "@jest/globals";
import { programOf } from "./run.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
const lines = [...page.matchAll(/^posthaste (.+)$/gm)].map(([, words = ""]) => words);
const silent = { write: () => undefined };
const host = {
  ...{ env: {}, out: silent, err: silent },
  ...{ stdin: Readable.from([]), interrupted: new AbortController().signal },
};

it.each(lines)("posthaste %s", async (line) => {
  const [words = ""] = line.split(" < ");
  let asked = 0;
  const program = programOf(host, () => () => Promise.resolve(void (asked += 1)));
  const parts = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? "",
  );

  await program.parseAsync(parts, { from: "user" });

  expect(asked).toBe(1);
});

it("its table has all commands of the program, and no other", () => {
  const named = [...page.matchAll(/^\| `([a-z]+)` /gm)].map(([, name]) => name);
  const program = programOf(host, () => () => Promise.resolve());

  expect([...named, "completion"].toSorted()).toEqual(
    program.commands.map((each) => each.name()).toSorted(),
  );
});
