/** Carries out bulk commands: previews the change, then applies it page by page until the end or Ctrl-C. */
import { CliError, HalfDone, isCliError } from "./exit.ts";
import { counted } from "./output.ts";
import { type Session } from "./session.ts";

export type Bulk = {
  /** The words for the output, such as "retried" and "dead letter". */
  readonly verb: string;
  readonly thing: string;
  readonly preview: () => Promise<number>;
  readonly pages: () => AsyncIterable<Done>;
};

/** A page. `left`: the outcome of the rest if the command stops here; undefined when nothing is left. */
export type Done = { readonly done: number; readonly left?: string };

export const untouched = "the rest is unchanged";

/** Needs neither a preview nor `--yes` if the caller has named ids. */
export async function inBulk(
  { host: { interrupted }, output }: Session,
  ids: readonly string[],
  options: Readonly<Record<string, unknown>>,
  { pages, preview, thing, verb }: Bulk,
): Promise<void> {
  const isNamed = ids.length > 0;
  if (!isNamed && options["yes"] !== true) {
    const matched = await preview();
    const text = `${counted(matched, thing)} would be ${verb}; add --yes to do it`;
    return output.done(text, { dryRun: true, matched });
  }
  // Counts for the progress bar, where a terminal shows one.
  const total = !isNamed && output.showsProgress ? await preview() : undefined;
  let count = 0;
  const soFar = (): string => `${counted(count, thing)} ${verb}`;
  try {
    for await (const { done, left } of pages()) {
      count += done;
      output.progress(soFar(), total ? count / total : undefined);
      if (interrupted.aborted && left !== undefined)
        throw new CliError("interrupted", `interrupted: ${soFar()}, ${left}`);
    }
  } catch (error) {
    output.progressEnds();
    if (isCliError(error) || count === 0) throw error;
    throw new HalfDone(soFar(), error);
  }
  output.progressEnds();
  output.done(soFar(), { [verb]: count });
}
