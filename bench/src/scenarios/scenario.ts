import { type Goal } from "../report/goals.ts";
import { type Stage } from "./stage.ts";

export type Scenario = {
  readonly name: string;
  readonly title: string;
  /** It stops beginning new rounds then, and the report says how many there were. */
  readonly budgetMs: number;
  /** Where it takes turns with an earlier commit. */
  readonly budgetWithBeforeMs?: number;
  /** Too long for a whole run: only when it is named. */
  readonly isAsked?: true;
  run(stage: Stage): Promise<Findings>;
};

/** `blocks` are paragraphs and tables in Markdown. */
export type Findings = { readonly blocks: readonly string[]; readonly goals?: readonly Goal[] };
