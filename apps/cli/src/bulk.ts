/** What is done to many: shown first, done when it is meant, page by page until the end or Ctrl-C. */
import { CliError } from "./exit.ts";
import { type Session } from "./session.ts";

export type Bulk = {
  /** In the words of what is said: "retried", "dead letters". */
  readonly verb: string;
  readonly things: string;
  /** By ids: it needs no preview. */
  readonly isNamed: boolean;
  readonly isMeant: boolean;
  readonly preview: () => Promise<number>;
  /** How many each page has done. */
  readonly pages: () => AsyncIterable<number>;
};

export async function inBulk(
  { host: { interrupted }, output }: Session,
  { isMeant, isNamed, pages, preview, things, verb }: Bulk,
): Promise<void> {
  if (!isMeant && !isNamed) {
    const matched = await preview();
    const text = `${matched} ${things} would be ${verb}; add --yes to do it`;
    return output.done(text, { dryRun: true, matched });
  }
  let count = 0;
  for await (const some of pages()) {
    count += some;
    output.progress(`${count} ${things} ${verb}`);
    if (!interrupted.aborted) continue;
    output.progressEnds();
    throw new CliError(
      "interrupted",
      `interrupted: ${count} ${things} ${verb}, the rest is as it was`,
    );
  }
  output.progressEnds();
  output.done(`${count} ${things} ${verb}`, { [verb]: count });
}
