// Checks that a file that takes and gives back has a test that draws orders of both (`expectAllGivenBack` of
// libs/testing), or a reason here.
//
// Such a file is recognized by its text, in which a number is counted down. A test of its package that imports it
// must call the function.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const sources = "{libs,services}/**/src/**/*.ts";
const isForeign = (name) => ["node_modules", "dist", "testing"].includes(name);
const isOfTests = /\.(test|fixture)\.ts$/;
const countsDown =
  /--(?:this|[a-z]\w*)[.#\w]*[ ;)]|[\w\])]--(?=[ ;)])|[\w\])] -= |add\w*\([^)]*, -/;
const isComment = /^\s*(?:\*|\/\*|\/\/)/;

const place = "a position in a text, or the work that is left of one call";
const ownTest = "its own test empties it in each way, and checks that nothing is left";
const reasons = new Map([
  ["libs/bus-kafka/src/assignment.ts", ownTest],
  ["libs/bus-kafka/src/document.ts", "the dashes are options of commands"],
  ["libs/bus-kafka/src/link.ts", "goes down in the `finally` of the send that it counts"],
  ["libs/bus-kafka/src/outbound.ts", ownTest],
  ["libs/contract/src/bodies/json-members.ts", place],
  ["libs/contract/src/bodies/json-parts.ts", place],
  ["libs/contract/src/bodies/json-string.ts", place],
  ["libs/documents-mongo/src/writes/gather.ts", place],
  [
    "libs/documents-mongo/src/runs/changes.ts",
    "goes down in the `finally` of the change that it counts",
  ],
  ["libs/documents-mongo/src/schedules/schedules.ts", "the count of schedules that are there"],
  ["libs/domain/src/destination/address.ts", place],
  ["libs/domain/src/lane/slots.ts", place],
  ["libs/domain/src/shared/cut.ts", place],
  ["libs/embedded/src/messages/settle.ts", "the count of records that are there"],
  ["libs/embedded/src/messages/waiting.ts", place],
  ["libs/engine/src/follow-up/owed-log.ts", ownTest],
  ["libs/engine/src/ring/lanes-in-line.ts", "the length of a line, which `take` empties"],
  ["libs/engine/src/runs/start.ts", place],
  ["libs/http/src/authenticate/authenticator.ts", "the rest of a second, which begins anew"],
  ["libs/retry-delays-mathjs/src/expression.ts", place],
  ["libs/tokens-redis/src/gather.ts", place],
  ["services/deliverer/src/calls/histories.ts", ownTest],
  ["services/deliverer/src/lines/lines.ts", ownTest],
  [
    "services/deliverer/src/permits/slots.ts",
    "the slots of `Permits`, whose test draws their orders",
  ],
  ["services/deliverer/src/calls/suspects.ts", ownTest],
  ["services/deliverer/src/lines/tenant-lines.ts", "the lines of `Lines`, whose test empties them"],
  ["services/gateway/src/quota.ts", "the arrivals since a count, which begins anew with it"],
  ["services/gateway/src/live-log/live-page.ts", place],
  ["services/gateway/src/schedule-texts.ts", place],
  ["services/gateway/src/slot-states.ts", place],
]);

export function readGiveBacks() {
  const files = globSync(sources, { cwd: root, exclude: isForeign }).toSorted();
  const tests = files
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => ({ file, text: read(file) }))
    .filter(({ text }) => text.includes("expectAllGivenBack("));
  const isDrawn = (file) =>
    tests.some(
      (test) => dirname(test.file) === dirname(file) && test.text.includes(`"./${nameOf(file)}"`),
    );
  const counting = files.filter(
    (file) =>
      !isOfTests.test(file) &&
      read(file)
        .split("\n")
        .some((line) => !isComment.test(line) && countsDown.test(line)),
  );
  return [
    ...counting
      .filter((file) => !isDrawn(file) && !reasons.has(file))
      .map((file) => `${file} counts down, and no test of it calls expectAllGivenBack`),
    ...[...reasons.keys()]
      .filter((file) => !counting.includes(file) || isDrawn(file))
      .map((file) => `scripts/give-backs.js has a reason for ${file}, which needs none`),
  ];
}

const nameOf = (file) => file.slice(file.lastIndexOf("/") + 1);
const read = (file) => readFileSync(join(root, file), "utf8");
