/** Writes the report: measurements, host, goals and faults. Shows figures as measured, also where they fall short. */
import { type Goal } from "./goals.ts";
import { table } from "./markdown.ts";

export type Section = {
  readonly name: string;
  readonly title: string;
  readonly blocks: readonly string[];
  readonly goals: readonly Goal[];
  readonly notes: readonly string[];
  readonly faults: readonly string[];
  readonly tookMs: number;
};

export type ReportHead = {
  readonly date: string;
  readonly host: string;
  readonly tookMs: number;
  readonly asked: readonly string[];
};

export function report(
  { asked, date, host, tookMs }: ReportHead,
  sections: readonly Section[],
): string {
  const goals = sections.flatMap((section) => section.goals);
  const all = (pick: (section: Section) => readonly string[]) =>
    sections.flatMap((section) => pick(section).map((text) => `- ${section.title}: ${text}`));
  const faults = all((section) => section.faults);
  const notes = all((section) => section.notes);
  return joined([
    "# Benchmark",
    `Written by \`npm run bench\` on ${date}, in ${minutes(tookMs)}. Ratios carry over to other hosts; absolute figures do not.`,
    'Everything runs on one host: load generator and destination in one process, each system in its own. The systems take turns (A B C A B C …). A figure is the median of the rounds, with the lowest and the highest in brackets; a ratio compares two systems within a round. Posthaste answers a publish after the message is durable on disk, and signs each delivery. The bare relay stores nothing. "The least" is a minimal program of the same parts: it stores, signs, settles and logs like Posthaste, without retries, tenants, limits or restarts; of its two threads, where it has two, one accepts messages and the other does the rest (docs/adr/0006). BullMQ answers when Redis has the job, which Redis writes to disk within a second; it neither signs nor checks a token, and its HTTP server is `node:http`.',
    ...(asked.length > 0
      ? [`Measured on request: ${asked.map((file) => `[${file}](asked/${file})`).join(", ")}.`]
      : []),
    host,
    "## Goals",
    goals.length === 0 ? "No goal was measured." : goalTable(goals),
    "## Counts",
    faults.length === 0
      ? "Every accepted message arrived exactly once, and none before it was due."
      : faults.join("\n"),
    ...(notes.length === 0 ? [] : ["## Not measured, or with fewer rounds", notes.join("\n")]),
    ...sections.map(sectionText),
  ]);
}

/** Returns the page of a scenario that runs only by name. `options`: as given on the command line. */
export const askedText = (
  { date, host, options }: Pick<ReportHead, "date" | "host"> & { readonly options: string },
  section: Section,
): string =>
  joined([
    `# ${section.title}`,
    `Written by \`npm run bench -- ${section.name}${options} --keep\` on ${date}, in ${minutes(section.tookMs)}. Ratios carry over to other hosts; absolute figures do not.`,
    host,
    ...section.blocks,
    ...(section.goals.length > 0 ? [goalTable(section.goals)] : []),
    ...section.notes.concat(section.faults).map((text) => `- ${text}`),
  ]);

export const sectionText = ({ title, blocks, tookMs }: Section): string =>
  joined([`## ${title}`, ...blocks, `<sub>${minutes(tookMs)}</sub>`]).trimEnd();

export const goalTable = (goals: readonly Goal[]): string =>
  table(
    ["goal", "measured", "met"],
    goals.map(({ what, measured, met }) => [what, measured, met]),
  );

const minutes = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${(ms / 60_000).toFixed(1)} min`;

const joined = (blocks: readonly string[]): string => `${blocks.join("\n\n")}\n`;
