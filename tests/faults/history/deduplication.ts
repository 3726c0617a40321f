/**
 * One deduplication id has one message until its window is forgotten (C12). Whether that message arrives is checked with the deliveries.
 */
import { faultsBetween } from "./excuse.ts";
import { type History } from "./journal.ts";
import { violation, type Violation } from "./violation.ts";

export function deduplicationRules(history: History): readonly Violation[] {
  const { acks, refusals, arrivals, faults } = history;
  const asked = [...acks, ...refusals].filter(({ kind }) => kind === "deduplicated");
  const arrivalsOf = Map.groupBy(arrivals, ({ n }) => n);
  return [...Map.groupBy(asked, ({ n }) => n)].flatMap(([n, tries]) => {
    const own = arrivalsOf.get(n) ?? [];
    const ids = new Set([
      ...tries.flatMap((each) => ("id" in each ? each.id : [])),
      ...own.map(({ id }) => id),
    ]);
    if (ids.size <= 1) return [];
    const from = Math.min(...tries.map(({ sentAt }) => sentAt));
    const to = Math.max(...tries.map(({ at }) => at));
    if (faultsBetween(faults, "forget", from, to).length > 0) return [];
    return [violation("two messages under one deduplication id", { n, tries, own })];
  });
}
