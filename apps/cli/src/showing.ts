/** Prints what `show` found, with the reason for its state first. */
import { CliError } from "./exit.ts";
import { findById, type Found } from "./finding.ts";
import { type MessageEvent, type MessageStory, type Try } from "./message-story.ts";
import { type Column, type Output, shortened, timeOf } from "./output.ts";
import { reasonOf, treeOf } from "./run-tree.ts";
import { type Session } from "./session.ts";

const kinds = { message: "message", letter: "dead letter", run: "run" } as const;

export async function showById(
  { client, output }: Session,
  id: string,
  first: keyof typeof kinds,
): Promise<void> {
  const found = await findById(client, id, first);
  if (!found) throw new CliError("unknown", `there is no ${kinds[first]} ${id}`);
  show(output, found);
}

function show(output: Output, found: Found): void {
  if (found.kind === "message") showMessage(output, found.story);
  else if (output.isJson) output.json({ ...reasonOf(found.run), ...found.run });
  else output.lines(treeOf(found.run));
}

const eventColumns: readonly Column<MessageEvent>[] = [
  ["time", ({ time }) => timeOf(time)],
  ["state", ({ state }) => state],
  ["answer", (event) => [event.responseStatus, event.error].filter(Boolean).join(" ")],
];

const tryColumns: readonly Column<Try>[] = [
  ["attempt", ({ startedAt, endedAt }) => timeOf(startedAt ?? endedAt)],
  ["ended", ({ ended }) => ended],
  ["took", ({ tookMs }) => (tookMs === undefined ? undefined : `${tookMs} ms`)],
  ["status", ({ answerStatus, error }) => answerStatus ?? error],
  ["size", ({ answerBytes }) => (answerBytes === undefined ? undefined : `${answerBytes} bytes`)],
];

function showMessage(output: Output, story: MessageStory): void {
  if (output.isJson) return output.json(story);
  const { events, tries, ...item } = story;
  const { responseBody } = item;
  output.item({
    ...item,
    ...(responseBody !== undefined && { responseBody: shortened(responseBody) }),
  });
  if (tries.length > 0) {
    output.lines([""]);
    output.rows(tries, tryColumns);
  }
  if (events.length > 0) {
    output.lines([""]);
    output.rows(events, eventColumns);
  }
}
