/**
 * Terms: rare fields that lists filter by, each with the positions of its messages. Labels, flow keys, queues, schedules and groups; a
 * message without any has no row here.
 */
import { type DatabaseSync } from "node:sqlite";
import { type Message, type MessageFilter, type TenantId } from "@posthaste/domain";
import { integer } from "./database/rows.ts";

type Configured = Pick<Message, "origin" | "policy" | "tenant">;

/** For use inside a write. */
export type Terms = {
  put(position: number, message: Configured): void;
  /** Removes the terms of `positions` (a JSON array) whose configuration, or whole row, was removed. */
  removeOrphans(positions: string): void;
};

export function openTerms(db: DatabaseSync): Terms {
  const put = db.prepare("INSERT OR IGNORE INTO terms (term, position) VALUES (?, ?)");
  const removeOrphans = db.prepare(`
    DELETE FROM terms WHERE position IN (SELECT value FROM json_each(?))
      AND NOT EXISTS (SELECT 1 FROM configurations WHERE configurations.position = terms.position)
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.position = terms.position AND json IS NOT NULL)`);
  let isUsed = db.prepare("SELECT 1 FROM terms LIMIT 1").get() !== undefined;
  return {
    put: (position, message) => {
      for (const term of termsOf(message)) {
        put.run(term, position);
        isUsed = true;
      }
    },
    removeOrphans: (positions) => void (isUsed && removeOrphans.run(positions)),
  };
}

/** A list starts from a term with at most this many messages. For a denser term it finds matches soon in its own order. */
const positionsMax = 1_000;
/** The values of one filter that are looked up. */
const valuesMax = 20;

/** Returns the positions of the rarest term of the filter, or undefined when none is rare. */
export function openTermReading(
  reader: DatabaseSync,
): (tenant: TenantId, filter: MessageFilter) => readonly number[] | undefined {
  const select = reader.prepare(
    `SELECT position FROM terms WHERE term = ? LIMIT ${positionsMax + 1}`,
  );
  const having = (terms: readonly string[]): ReadonlySet<number> =>
    new Set(terms.flatMap((term) => select.all(term).map((row) => integer(row["position"]))));

  return (tenant, filter) => {
    let rarest: ReadonlySet<number> | undefined;
    for (const [kind, of] of kinds) {
      const values = filter[of];
      if (values === undefined || values.length > valuesMax) continue;
      const found = having(values.map((value) => termOf(tenant, kind, value)));
      if (found.size <= positionsMax && found.size < (rarest?.size ?? Infinity)) rarest = found;
    }
    return rarest && [...rarest];
  };
}

const kinds = [
  ["label", "labels"],
  ["flow", "flowControlKeys"],
  ["queue", "queueNames"],
  ["schedule", "scheduleIds"],
  ["group", "groups"],
] as const satisfies readonly (readonly [string, keyof MessageFilter])[];
type Kind = (typeof kinds)[number][0];

/** A tenant's id holds no slash. The migration that makes the table writes the same terms. */
const termOf = (tenant: TenantId, kind: Kind, value: string): string =>
  `${tenant}/${kind}:${value}`;

function termsOf({ origin, policy, tenant }: Configured): readonly string[] {
  const { labels, flow } = policy;
  const { group, queueName, scheduleId } = origin;
  const isPlain = labels.length === 0 && !flow && !group;
  if (isPlain && queueName === undefined && scheduleId === undefined) return none;
  const given = {
    label: labels,
    flow: flow ? [flow.key] : none,
    queue: queueName === undefined ? none : [queueName],
    schedule: scheduleId === undefined ? none : [scheduleId],
    group: group ? [group.name] : none,
  } satisfies Record<Kind, readonly string[]>;
  return kinds.flatMap(([kind]) => given[kind].map((value) => termOf(tenant, kind, value)));
}

const none: readonly string[] = [];
