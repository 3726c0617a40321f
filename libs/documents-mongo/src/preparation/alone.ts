/** Prepares the database while no other process does, and reports its progress. */
import { type Clock } from "@posthaste/ports";
import { type Db } from "mongodb";
import { type Migration } from "./formats.ts";
import { takeLease } from "./lease.ts";
import { buildersOf } from "./meta.ts";
import { type Step } from "./missing.ts";
import { prepare, type Wanted } from "./prepare.ts";
import { progressOf } from "./progress.ts";

export type Databases = {
  /** Calls to this one time out. */
  readonly db: Db;
  /** Calls to this one may take as long as building an index. */
  readonly patientDb: Db;
};

export type Builder = Databases & {
  readonly clock: Clock;
  readonly owner: string;
  /** Ends the work here; the server finishes the command under way. */
  readonly ending: AbortSignal;
  readonly tell: (doing: string) => void;
};

export async function prepareAlone(
  wanted: Wanted,
  { clock, db, ending, owner, patientDb, tell }: Builder,
): Promise<boolean> {
  let step: Migration | Step | undefined;
  const doing = async (): Promise<string> => {
    const text = await textOf(db, step);
    tell(text);
    return text;
  };
  const lease = await takeLease(buildersOf(db), { clock, owner, doing });
  if (!lease) return false;
  const work = prepare(patientDb, wanted, {
    goesOn: () => lease.isHeld() && !ending.aborted,
    begins: (next) => {
      step = next;
      void doing();
    },
  });
  try {
    await Promise.race([work, rejectedAt(ending)]);
  } finally {
    // A lease that cannot be given back runs out by itself.
    await lease.release().catch(() => undefined);
  }
  return true;
}

const rejectedAt = (ending: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(new Error("the connection to MongoDB is closed"));
    if (ending.aborted) end();
    ending.addEventListener("abort", end, { once: true });
  });

async function textOf(db: Db, step: Migration | Step | undefined): Promise<string> {
  if (step === undefined) return "the database is being checked";
  if ("run" in step) return `documents: ${step.name}`;
  const progress = await progressOf(db, step.collection);
  const words = `the indexes of ${step.collection} are being built`;
  return progress === undefined ? words : `${words}: ${progress}`;
}
