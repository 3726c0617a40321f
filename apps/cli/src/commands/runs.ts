import { type Run } from "@posthaste/client";
import { type Command } from "commander";
import { inBulk, untouched } from "../bulk.ts";
import {
  countOf,
  ofRuns,
  type Query,
  queryOf,
  runFilters,
  selectionOf,
  withFilters,
} from "../filters.ts";
import { list, withLimit } from "../listing.ts";
import { withValue } from "../option.ts";
import { type Column, counted, timeOf } from "../output.ts";
import { type Acting, type Session } from "../session.ts";
import { showById } from "../showing.ts";
import { unlessUnknown } from "../unless-unknown.ts";
import { publicationOf, withSettings } from "./publishing.ts";

type Options = Readonly<Record<string, unknown>>;

const columns: readonly Column<Run>[] = [
  ["run", ({ workflowRunId }) => workflowRunId],
  ["state", ({ workflowState }) => workflowState],
  ["started", ({ workflowRunCreatedAt }) => timeOf(workflowRunCreatedAt)],
  ["dead letter", ({ dlqId }) => dlqId],
  ["workflow", ({ workflowUrl }) => workflowUrl],
];

/** The number of runs that one request cancels. */
const cancelledAtOnce = 100;

export function addRuns(program: Command, acting: Acting): void {
  const runs = program.command("runs").description("workflow runs");
  withLimit(withFilters(runs.command("ls"), runFilters))
    .description("list runs, the newest first")
    .action(
      acting<Options & { limit: string }>(async (session, _, options) => {
        const found = session.client.each("listRunLogs", queryOf(options, runFilters));
        await list(session, found, countOf(options.limit), columns);
      }),
    );
  runs
    .command("show <run>")
    .description(
      "show a run and its steps as a tree, by its id or the id of its dead letter or a message",
    )
    .action(acting((session, [id = ""]) => showById(session, id, "run")));
  withValue(withSettings(runs.command("start <workflow>")), "--id <run>", {
    ...{ about: "The id of the run", fallback: "one is made", example: "order-17" },
  })
    .description("start the workflow at a URL")
    .action(
      acting<Readonly<Record<string, string>>>(async (session, [to = ""], options) => {
        const { id: workflowRunId } = options;
        const publication = await publicationOf(session, options);
        const { client, output } = session;
        output.item(await client.trigger({ ...publication, to, workflowRunId }));
      }),
    );
  withFilters(runs.command("cancel [runs...]"), ofRuns)
    .description("cancel runs by their ids, or all that filters match with --yes")
    .option("--all", "all active runs")
    .option("--yes", "act; without --yes the matches are only counted")
    .action(acting<Options>(cancel));
  for (const name of ["restart", "resume"] as const)
    withFilters(runs.command(`${name} [runs-or-dead-letters...]`), ofRuns)
      .description(
        `${name} failed runs from ${name === "restart" ? "their beginning" : "the failed step"}: by their ids, or all that filters match with --yes, whose dead letters are then removed`,
      )
      .option("--all", "all failed runs with a dead letter")
      .option(
        "--keep",
        "keep the dead letters of runs that filters match: a repeat takes them again",
      )
      .option("--yes", "act; without --yes the matches are only counted")
      .action(acting<Options>((session, ids, options) => again(session, name, ids, options)));
  withValue(runs.command("notify <event>"), "-d, --data <body>", {
    ...{ about: "The data of the event", fallback: "nothing", example: '{"approved":true}' },
  })
    .description("send an event to all runs that wait for it")
    .action(
      acting<{ data?: string }>(async ({ client, output }, [event = ""], { data }) => {
        const body = data === undefined ? {} : { body: data };
        const told = (await client.call("notifyEvent", event, body)) as readonly unknown[];
        output.done(`${counted(told.length, "run")} told`, { notified: told.length });
      }),
    );
}

const past = { restart: "restarted", resume: "resumed" } as const;

/** Restarts or resumes runs one by one, so that the output names those done before a refusal. */
async function again(
  session: Session,
  name: keyof typeof past,
  ids: readonly string[],
  options: Options,
): Promise<void> {
  const { client, output } = session;
  const query = selectionOf(ids, options, ofRuns, "workflowRunIds");
  const [id] = ids;
  if (id !== undefined && ids.length === 1)
    return output.item(await client.failedRuns[name](await letterOf(client, id)));
  const found =
    ids.length > 0
      ? await Promise.all(ids.map((each) => letterOf(client, each)))
      : await lettersOf(client, query);
  const isKept = ids.length > 0 || options["keep"] === true;
  await inBulk(session, ids, options, {
    ...{ verb: past[name], thing: "run" },
    preview: () => Promise.resolve(found.length),
    pages: async function* () {
      const { failedRuns } = session.patientClient;
      for (const [nth, letter] of found.entries()) {
        const begun = await unlessUnknown(failedRuns[name](letter));
        if (begun !== undefined && !isKept) await unlessUnknown(failedRuns.remove(letter));
        const isLast = nth === found.length - 1;
        yield { done: begun === undefined ? 0 : 1, ...(!isLast && { left: untouched }) };
      }
    },
  });
}

/** Returns the dead letters of the failed runs that match now. A run that fails later is left out. */
async function lettersOf(client: Session["client"], query: Query): Promise<readonly string[]> {
  const failed = { ...query, state: "RUN_FAILED", steps: "none" };
  const letters: string[] = [];
  for await (const run of client.each("listRunLogs", failed))
    if (run.dlqId !== undefined) letters.push(run.dlqId);
  return letters;
}

/** Returns the dead letter id of a failed run, or `id` itself for anything else. */
async function letterOf(client: Session["client"], id: string): Promise<string> {
  const { runs } = await client.runs.list({
    query: { workflowRunId: id, count: 1, steps: "none" },
  });
  return runs[0]?.dlqId ?? id;
}

async function cancel(session: Session, ids: readonly string[], options: Options): Promise<void> {
  const { client } = session;
  const query = selectionOf(ids, options, ofRuns, "workflowRunIds");
  await inBulk(session, ids, options, {
    ...{ verb: "cancelled", thing: "run" },
    preview: async () => {
      const active = { ...query, state: "RUN_STARTED", steps: "none" };
      let matched = 0;
      for await (const page of client.pages("listRunLogs", { query: active }))
        matched += page.runs.length;
      return matched;
    },
    pages: async function* () {
      const { runs: patient } = session.patientClient;
      if (ids.length > 0) {
        const { cancelled } = await patient.cancelMany({ query });
        yield { done: cancelled };
        return;
      }
      // Matches the whole URL, as the list does. Each request cancels some active runs, so the loop ends with the last.
      const some = { ...query, workflowUrlExactMatch: true, count: cancelledAtOnce };
      for (let isLast = false; !isLast;) {
        const { cancelled } = await patient.cancelMany({ query: some });
        isLast = cancelled < cancelledAtOnce;
        yield { done: cancelled, ...(!isLast && { left: untouched }) };
      }
    },
  });
}
