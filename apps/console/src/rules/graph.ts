/** A run as a graph: groups of steps from left to right. Long runs and wide groups are drawn in part. */
import { type Run } from "@posthaste/client/api";
import { type StepRow, waterfallOf } from "./waterfall.ts";

export type GraphNode = {
  readonly id: string;
  readonly column: number;
  /** From the middle of its column. */
  readonly place: number;
  readonly row?: StepRow;
  /** Steps that are not drawn. */
  readonly left?: number;
};

export type Graph = {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly (readonly [from: string, to: string])[];
};

/** So many groups at either end of a run, and so many steps of a group. */
const groupsMax = 30;
const membersMax = 10;

export function graphOf(run: Run, now: number): Graph {
  const { rows } = waterfallOf(run, now);
  const columns = cut(groupsOf(run, rows)).map((group, column) => nodesOf(group, column));
  const edges = columns
    .slice(1)
    .flatMap((column, nth) =>
      (columns[nth] ?? []).flatMap((from) =>
        column.map((to): readonly [string, string] => [from.id, to.id]),
      ),
    );
  return { nodes: columns.flat(), edges };
}

type Group = { readonly rows: readonly StepRow[]; readonly left: number };

function groupsOf({ steps }: Run, rows: readonly StepRow[]): readonly Group[] {
  let at = 0;
  return steps.map((group) => {
    const members = rows.slice(at, (at += group.steps.length));
    const isWide = members.length > membersMax;
    const drawn = isWide ? members.slice(0, membersMax - 1) : members;
    return { rows: drawn, left: members.length - drawn.length };
  });
}

function cut(groups: readonly Group[]): readonly Group[] {
  if (groups.length <= 2 * groupsMax) return groups;
  const skipped = groups.slice(groupsMax, -groupsMax);
  const left = skipped.reduce((sum, { rows, left: more }) => sum + rows.length + more, 0);
  return [...groups.slice(0, groupsMax), { rows: [], left }, ...groups.slice(-groupsMax)];
}

function nodesOf({ rows, left }: Group, column: number): readonly GraphNode[] {
  const more = left > 0 ? [{ id: `more-${column}`, left }] : [];
  const all = [...rows.map((row) => ({ id: row.key, row })), ...more];
  const middle = (all.length - 1) / 2;
  return all.map((node, nth) => ({ ...node, column, place: nth - middle }));
}
