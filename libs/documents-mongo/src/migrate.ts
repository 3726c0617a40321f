/**
 * The migration that an operator runs before the processes of a new version. It builds what they would otherwise have
 * to wait for (ADR 181).
 */
import { type Clock, pause, type Random } from "@posthaste/ports";
import { allIndexes } from "./all-indexes.ts";
import {
  type Address,
  databaseOf,
  noTimeout,
  openClient,
  patienceMsDefault as patienceMs,
  silencesMs,
} from "./link/clients.ts";
import { isAway } from "./link/failures.ts";
import { nameOf } from "./indexes.ts";
import { prepareAlone } from "./preparation/alone.ts";
import { migrations } from "./preparation/formats.ts";
import { heldLease } from "./preparation/lease.ts";
import { buildersOf } from "./preparation/meta.ts";
import { missingIn, type Wanted } from "./preparation/prepare.ts";

export type DocumentsMigrationOptions = Address & {
  readonly clock: Clock;
  readonly random: Random;
  readonly tell: (doing: string) => void;
};

export type DocumentsMigration = {
  readonly missing: () => Promise<readonly string[]>;
  /** Resolves when all is built, by whichever process. */
  readonly run: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function openDocumentsMigration(
  options: DocumentsMigrationOptions,
  wanted: Wanted = { indexes: allIndexes, migrations },
): DocumentsMigration {
  const { clock, database, random } = options;
  const client = openClient(options, {
    ...{ patienceMs, connections: connectionsMax },
    silenceMs: silencesMs * patienceMs,
  });
  const patient = openClient(options, { patienceMs, connections: 1, silenceMs: noTimeout });
  const db = databaseOf(client, database, patienceMs);
  const ending = new AbortController();
  let told: string | undefined;
  const tell = (doing: string): void => {
    if (doing !== told) options.tell(doing);
    told = doing;
  };
  const builder = {
    ...{ clock, db, tell, owner: random.text(ownerLength), ending: ending.signal },
    patientDb: databaseOf(patient, database, noTimeout),
  };

  const goOn = async (): Promise<boolean> => {
    const { indexes, isUnmarked, migrations: left } = await missingIn(db, wanted);
    if (indexes.length === 0 && left.length === 0 && !isUnmarked) return true;
    const doing = await heldLease(buildersOf(db));
    if (doing !== undefined || !(await prepareAlone(wanted, builder))) {
      tell(`another process is migrating: ${doing ?? "it has just begun"}`);
      await pause(clock, againAfterMs, ending.signal);
    }
    return false;
  };

  return {
    missing: async () => {
      const { indexes, migrations: left } = await missingIn(db, wanted);
      return [
        ...left.map(({ name }) => `documents: ${name}`),
        ...indexes.map((index) => `index ${nameOf(index)} of ${index.collection}, ${index.is}`),
      ];
    },
    run: async () => {
      let awaySince: number | undefined;
      // Ends when the server was away for `awayMsMax`, or when the migration is closed.
      for (;;) {
        try {
          if (await goOn()) return;
          awaySince = undefined;
        } catch (error) {
          awaySince ??= clock.passedMs();
          const isLong = clock.passedMs() - awaySince > awayMsMax;
          if (ending.signal.aborted || !isAway(error) || isLong) throw error;
          tell("the server is away");
          await pause(clock, againAfterMs, ending.signal);
        }
      }
    },
    close: async () => {
      ending.abort();
      await Promise.all([client.close(), patient.close()]);
    },
  };
}

const connectionsMax = 4;
const ownerLength = 12;
const againAfterMs = 1_000;
/** An election takes seconds, and so does a server that is started together with the migration. */
const awayMsMax = 60_000;
