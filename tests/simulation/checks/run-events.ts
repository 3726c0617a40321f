/** R8 and R9: an event ends a wait once, or is kept for one, and its caller learns which. */
import { isActive, type Run, type RunId, runMessageId } from "@posthaste/domain";
import { eventPrefix, stepsOf } from "../runs/program.ts";
import { type Telling } from "../runs/seen.ts";
import { type History } from "../world/history.ts";
import { isResumed, saidOf, stepOf, type Story, text } from "./run-story.ts";

type Ended = { readonly story: Story; readonly step: number };

export function checkEvents(history: History, stories: readonly Story[]): void {
  for (const story of stories) checkNotes(history, story);
  for (const telling of history.runs.tellings) {
    const ended = stories.flatMap((story) =>
      [...stepsOf(story.program).keys()]
        .filter((step) => saidOf({ parts: story.own }, step) === `${eventPrefix}${telling.body}`)
        .map((step): Ended => ({ story, step })),
    );
    checkMeant(history, telling, ended);
    checkReply(history, telling, ended, stories);
  }
}

/** R9: notes are taken in their order, each by the result that is written with it. */
function checkNotes(history: History, { changes, parts, run }: Story): void {
  for (const { after, before, parts: written } of changes) {
    if (!before || !isActive(before) || !isActive(after)) continue;
    const gone = before.state.notes.filter(
      ({ part }) => !after.state.notes.some((note) => note.part === part),
    );
    for (const { event, part } of gone) {
      history.count("runs.notes");
      const oldest = before.state.notes.find((note) => note.event === event);
      const note = parts.get(part);
      const results = written.filter(({ name }) => name.startsWith("s"));
      const isTaken =
        note &&
        results.some(
          ({ name }) => saidOf({ parts }, stepOf(name)) === `${eventPrefix}${text(note)}`,
        );
      if (oldest?.part !== part || !isTaken)
        history.violate("R9", `the note ${part} of ${run.key} was taken out of turn, or lost`);
    }
  }
}

function checkMeant(
  history: History,
  { body, event, run, tenant }: Telling,
  ended: readonly Ended[],
): void {
  for (const { step, story } of ended) {
    const waited = stepsOf(story.program).get(step);
    const isMeant =
      waited?.kind === "wait" &&
      waited.event === event &&
      story.run.tenant === tenant &&
      (run === undefined || isNamed(story, run));
    if (!isMeant) history.violate("R8", `${body} ended step ${step} of ${story.run.key}`);
  }
  // One run, and one request: it ended as many waits of the run as there were at once, or the one that took the note.
  const notedIn = ended.filter(({ step, story }) => !waitedFor(story, step) && !isResumed(story));
  if (run !== undefined && (notedIn.length > 1 || (notedIn.length === 1 && ended.length > 1)))
    history.violate("R9", `${body} was taken ${ended.length} times`);
}

function checkReply(
  history: History,
  { body, reply, run, tenant }: Telling,
  ended: readonly Ended[],
  stories: readonly Story[],
): void {
  if (!reply) return;
  const directly = ended
    .filter(({ step, story }) => waitedFor(story, step))
    .map(({ step, story }) => runMessageId(story.root, `s${step}`));
  if (JSON.stringify(directly.toSorted()) !== JSON.stringify(reply.toSorted()))
    history.violate("R8", `${body} ended ${directly.join(" ")}, and says ${reply.join(" ")}`);
  if (run === undefined) return;
  const isKept = stories.some(
    (story) =>
      isNamed(story, run) &&
      story.run.tenant === tenant &&
      [...story.parts.values()].some((part) => part.name.startsWith("n") && text(part) === body),
  );
  if (ended.length === 0 && !isKept) history.violate("R9", `${body} was taken and is lost`);
}

/** Reports whether an event for `named` reaches the run: a run that continues a failed one takes its events, too. */
const isNamed = ({ run: { aliases = [], id } }: Story, named: RunId): boolean =>
  id === named || aliases.includes(named);

/** Reports whether the run waited when the event came. Otherwise its wait has taken a note. */
const waitedFor = ({ changes }: Story, step: number): boolean =>
  changes.some(({ after }: { readonly after: Run }) =>
    after.state.kind === "active"
      ? after.state.pending.some((each) => each.kind === "wait" && each.step === step)
      : false,
  );
