/** Dead letters: shows, retries and removes them by id or by filter. */
import { type DeadLetter } from "@posthaste/client";
import { type Command } from "commander";
import { inBulk, untouched } from "../bulk.ts";
import { edited, isJson } from "../editor.ts";
import { CliError } from "../exit.ts";
import { countOf, letterFilters, queryOf, selectionOf, withFilters } from "../filters.ts";
import { list, withLimit } from "../listing.ts";
import { type Column, timeOf } from "../output.ts";
import { type Acting, type Session } from "../session.ts";
import { showById } from "../showing.ts";

type Options = Readonly<Record<string, unknown>>;

const columns: readonly Column<DeadLetter>[] = [
  ["dead letter", ({ dlqId }) => dlqId],
  ["published", ({ createdAt }) => timeOf(createdAt)],
  ["answer", ({ error, responseStatus }) => (responseStatus === 0 ? error : responseStatus)],
  ["url", ({ url }) => url],
];

/** The page size of a list; `show` prints the bodies of messages. */
const pageMax = 100;

export function addDeadLetters(program: Command, acting: Acting): void {
  const letters = program.command("dlq").description("dead letters");
  withLimit(withFilters(letters.command("ls"), letterFilters))
    .description("list dead letters, the newest first")
    .action(
      acting<Options & { limit: string }>(async (session, _, options) => {
        const limit = countOf(options.limit);
        const page = { order: "latestFirst", count: Math.min(limit, pageMax), trimBody: 0 };
        const query = { ...queryOf(options, letterFilters), ...page };
        const found = session.client.each("listDeadLetters", query);
        await list(session, found as AsyncIterable<DeadLetter>, limit, columns);
      }),
    );
  letters
    .command("show <dead-letter>")
    .description("show a dead letter and why it failed, by its id or the id of its message")
    .action(acting((session, [id = ""]) => showById(session, id, "letter")));
  const inMany = (name: string): Command =>
    withFilters(letters.command(`${name} [dead-letters...]`), letterFilters)
      .description(
        `${name === "rm" ? "remove" : name} dead letters by their ids, or all that filters match with --yes`,
      )
      .option("--all", "all dead letters")
      .option("--yes", "act; without --yes the matches are only counted");
  inMany("retry")
    .option(
      "--edit",
      "retry one dead letter with its body edited in $EDITOR; all else is unchanged",
    )
    .action(
      acting<Options>((session, ids, options) =>
        options["edit"] === true
          ? retryEdited(session, ids)
          : many(session, ids, options, "retried", "retryDeadLetters"),
      ),
    );
  inMany("rm").action(
    acting<Options>((session, ids, options) =>
      many(session, ids, options, "removed", "removeDeadLetters"),
    ),
  );
}

async function retryEdited({ client, host, output }: Session, ids: readonly string[]) {
  const [id] = ids;
  if (id === undefined || ids.length > 1)
    throw new CliError("usage", "--edit: name one dead letter");
  const letter = await client.deadLetters.read(id);
  const body = editableBody(letter);
  const after = await edited(host.env, body, isJson(body));
  const retry = { query: { replaceBody: true }, body: after };
  const { messageId } = await client.deadLetters.retry(letter.dlqId, retry);
  output.done(`${id} sent again as ${messageId}`, { dlqId: id, messageId });
}

function many(
  session: Session,
  ids: readonly string[],
  options: Options,
  verb: string,
  operation: "retryDeadLetters" | "removeDeadLetters",
): Promise<void> {
  const { client } = session;
  const query = selectionOf(ids, options, letterFilters, "dlqIds");
  return inBulk(session, ids, options, {
    ...{ verb, thing: "dead letter" },
    preview: async () => {
      let matched = 0;
      for await (const page of client.pages(operation, { query: { ...query, dryRun: true } }))
        if ("matched" in page) matched += page.matched;
      return matched;
    },
    pages: async function* () {
      for await (const page of session.patientClient.pages(operation, { query })) {
        const left = "cursor" in page && page.cursor ? { left: untouched } : {};
        if ("responses" in page) yield { done: page.responses.length, ...left };
        if ("deleted" in page) yield { done: page.deleted, ...left };
      }
    },
  });
}

const redacted = "REDACTED:";

/** Returns the body as text. Refuses a redacted body, which only the destination may see, and a binary one. */
function editableBody({ body = "", bodyBase64 }: DeadLetter): string {
  if (body.startsWith(redacted))
    throw new CliError("usage", "--edit: the body is redacted, and cannot be edited");
  if (bodyBase64 !== undefined) throw new CliError("usage", "--edit: the body is not text");
  return body;
}
