import { setTimeout as sleep } from "node:timers/promises";
import { type LogEntry } from "@posthaste/client";
import { type Command } from "commander";
import { type Done, inBulk } from "../bulk.ts";
import {
  countOf,
  eventFilters,
  followFilters,
  messageFilters,
  queryOf,
  selectionOf,
  withFilters,
} from "../filters.ts";
import { list, withLimit } from "../listing.ts";
import { type Column, shown, timeOf } from "../output.ts";
import { type Acting, type Session } from "../session.ts";
import { showById } from "../showing.ts";

type Options = Readonly<Record<string, unknown>>;

const columns: readonly Column<LogEntry>[] = [
  ["time", ({ time }) => timeOf(time)],
  ["state", ({ state }) => state],
  ["message", ({ messageId }) => messageId],
  ["answer", ({ error, responseStatus }) => responseStatus ?? error],
  ["url", ({ url }) => url],
];

export function addMessages(program: Command, acting: Acting): void {
  const messages = program.command("messages").description("messages and their log");
  withLimit(withFilters(messages.command("ls"), eventFilters))
    .description("list what happened to messages, the newest first")
    .action(
      acting<Options & { limit: string }>(async (session, _, options) => {
        const limit = countOf(options.limit);
        const page = { count: Math.min(limit, pageMax), trimBody: 0 };
        const query = { ...queryOf(options, eventFilters), ...page };
        await list(session, session.client.each("listEvents", query), limit, columns);
      }),
    );
  messages
    .command("show <message>")
    .description("show a message and its log, by its id or the id of its dead letter")
    .action(acting((session, [id = ""]) => showById(session, id, "message")));
  messages
    .command("now <message>")
    .description("deliver now a message that waits for a delay or a retry")
    .action(
      acting(async ({ client, output }, [id = ""]) => {
        await client.messages.deliverNow(id);
        output.done(`${id} is delivered now`, { messageId: id });
      }),
    );
  withFilters(messages.command("cancel [messages...]"), messageFilters)
    .description("cancel messages by their ids, or all that filters match with --yes")
    .option("--all", "all messages that have not ended")
    .option("--yes", "act; without --yes the matches are only counted")
    .action(acting<Options>(cancel));
  withFilters(program.command("tail"), followFilters)
    .description(
      "print what happens to messages, as it happens, until Ctrl-C; with --from, from that time on",
    )
    .action(acting<Options>(tail));
}

async function cancel(session: Session, ids: readonly string[], options: Options): Promise<void> {
  const { client } = session;
  const query = selectionOf(ids, options, messageFilters, "messageIds");
  await inBulk(session, ids, options, {
    ...{ verb: "cancelled", thing: "message" },
    preview: async () => {
      const answer = await client.messages.cancelMany({ query: { ...query, dryRun: true } });
      return "matched" in answer ? answer.matched : 0;
    },
    pages: async function* () {
      const answer = await session.patientClient.messages.cancelMany({ query });
      if (!("cancelled" in answer)) return;
      if (answer.actionId === undefined) yield { done: answer.cancelled };
      else yield* followed(session, answer.actionId);
    },
  });
}

/** Yields how many messages each look found done since the last. The bulk action continues in the server if this process ends. */
async function* followed({ host, patientClient }: Session, actionId: string): AsyncGenerator<Done> {
  for (let before = 0; ;) {
    const { processed, state } = await patientClient.bulkActions.read(actionId);
    const hasEnded = state === "FINISHED";
    const left = `the server goes on with the rest (bulk action ${actionId})`;
    yield { done: processed - before, ...(!hasEnded && { left }) };
    before = processed;
    if (hasEnded) return;
    await sleep(pollMs, undefined, { signal: host.interrupted }).catch(() => undefined);
  }
}

const pollMs = 1_000;
/** The page size of a list; `show` prints the bodies of messages. */
const pageMax = 1_000;
/** Follows the log until Ctrl-C. */
async function tail(session: Session, words: readonly string[], options: Options): Promise<void> {
  try {
    await follow(session, words, options);
  } catch (error) {
    if (!session.host.interrupted.aborted) throw error;
  }
}

async function follow(
  { client, host, output }: Session,
  _: unknown,
  options: Options,
): Promise<void> {
  const query = { ...queryOf(options, followFilters), trimBody: 0 };
  for await (const event of client.follow(query, { signal: host.interrupted })) {
    if (output.isJson) output.json(event);
    else output.lines([columns.map(([, of]) => shown(of(event)) || "-").join("  ")]);
  }
}
