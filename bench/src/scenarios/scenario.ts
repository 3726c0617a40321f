import { type Goal } from "../report/goals.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Stage } from "./stage.ts";

export type Scenario = {
  readonly name: string;
  readonly title: string;
  /** The time after which no new round begins. The report states the number of rounds. */
  readonly budgetMs: number;
  /** The budget where the scenario takes turns with an earlier commit. */
  readonly budgetWithBeforeMs?: number;
  /** Runs only when named, being too long for a whole run. */
  readonly isAsked?: true;
  run(stage: Stage): Promise<Findings>;
};

/** `blocks` are paragraphs and tables in Markdown. */
export type Findings = { readonly blocks: readonly string[]; readonly goals?: readonly Goal[] };

/** Measures the standalone alone, with a sink of its own. */
export const withPosthaste =
  (measure: (stage: Stage, system: System, destination: string) => Promise<Findings>) =>
  async (stage: Stage): Promise<Findings> => {
    const system = await stage.start(...posthaste);
    if (system === undefined) return { blocks: ["Not measured."] };
    return measure(stage, system, await stage.destination());
  };
