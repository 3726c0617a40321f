/**
 * Handles a database that lacks something: builds it, beside the heartbeat, or waits for the process that builds it.
 *
 * (1) A look succeeds when all that a process needs is there; wanted indexes are built meanwhile.
 * (2) Nothing begins after the end: a client that is used after it was closed stays open.
 */
import { type Clock, endsWithin, type Log, pause } from "@posthaste/ports";
import { type Databases, prepareAlone } from "./alone.ts";
import { heldLease } from "./lease.ts";
import { buildersOf } from "./meta.ts";
import { type Missing, missingIn, type Wanted } from "./prepare.ts";

export type Preparation = {
  /** Waits a while for needed indexes, and rejects with the missing ones. Does nothing once all is there. */
  readonly look: () => Promise<void>;
  readonly isDone: () => boolean;
  readonly building: () => string | undefined;
  /** Stops the work of this process, so that another may build. */
  readonly end: () => Promise<void>;
};

export type PreparationOptions = Databases & {
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  readonly wanted: Wanted;
  readonly patienceMs: number;
};

export function createPreparation(options: PreparationOptions): Preparation {
  const { clock, db, log, patienceMs, wanted } = options;
  const ending = new AbortController();
  let isDone = false;
  let lack: Missing | undefined;
  let doing: string | undefined;
  let failure: string | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;
  let work: Promise<boolean> | undefined;
  let waitMs = firstWaitMs;

  const builder = {
    ...options,
    ending: ending.signal,
    tell: (text: string): void => void (doing = text),
  };
  const build = async (): Promise<boolean> => {
    try {
      doing = await heldLease(buildersOf(db));
      const isBuilt = doing === undefined && (await prepareAlone(wanted, builder));
      if (isBuilt) failure = undefined;
      return isBuilt;
    } catch (error) {
      if (ending.signal.aborted) return false;
      const text = Error.isError(error) ? error.message : String(error);
      if (text !== failure) log.warn("documents.build_failed", { error });
      doing = undefined;
      failure = text;
      notBefore = clock.passedMs() + againAfterMs;
      return false;
    }
  };
  const begin = (): Promise<boolean> => {
    if (ending.signal.aborted || clock.passedMs() < notBefore) return Promise.resolve(false);
    return (work ??= build().finally(() => (work = undefined)));
  };
  const told = (found: Missing): string =>
    [doing ?? textOf(found), ...(failure === undefined ? [] : [failure])].join(": ");

  return {
    look: async () => {
      const until = clock.passedMs() + patienceMs;
      // Ends when `until` has passed.
      while (!isDone) {
        lack = await missingIn(db, wanted);
        if (isWhole(lack)) {
          // Work under way may use connections that their owner closes once this function returns.
          isDone = work === undefined;
          return;
        }
        const building = begin();
        if (isEnough(lack)) return;
        if (clock.passedMs() > until) throw new Error(told(lack));
        const isOver = await endsWithin(clock, waitMs, building);
        // A build by this process is checked at once; a build by another process is checked at growing intervals.
        if (isOver && (await building)) continue;
        if (isOver) await pause(clock, waitMs);
        waitMs = Math.min(2 * waitMs, waitMsMax);
      }
    },
    isDone: () => isDone,
    building: () => (!lack || isWhole(lack) ? undefined : told(lack)),
    end: async () => {
      ending.abort();
      if (work) await endsWithin(clock, patienceMs, work);
    },
  };
}

const isWhole = ({ indexes, migrations }: Missing): boolean =>
  migrations.length === 0 && indexes.length === 0;
const isEnough = ({ indexes, migrations }: Missing): boolean =>
  migrations.length === 0 && indexes.every(({ is }) => is === "wanted");

function textOf({ indexes, migrations }: Missing): string {
  if (migrations.length > 0) return "the format is older";
  const names = [...new Set(indexes.map(({ collection }) => collection))];
  return `indexes of ${names.join(", ")} are missing`;
}

const firstWaitMs = 50;
const waitMsMax = 1_000;
const againAfterMs = 10_000;
