/** Draws a run as a graph: groups of steps from left to right. Long runs and wide groups are drawn in part, failures always. */
import { type Run } from "@posthaste/client/api";
import { type StepRow, waterfallOf } from "./waterfall.ts";

export type GraphNode = {
  readonly id: string;
  readonly column: number;
  /** The distance from the middle of its column. */
  readonly place: number;
  readonly row?: StepRow;
  readonly left?: number;
};

export type Graph = {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly (readonly [from: string, to: string])[];
  readonly columns: number;
};

/** The groups drawn at either end of a run, the groups with failures drawn between them, and the steps drawn of a group. */
const groupsMax = 30;
const troubledGroupsMax = 10;
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
  return { nodes: columns.flat(), edges, columns: columns.length };
}

type Group = { readonly rows: readonly StepRow[]; readonly left: number };

/** Failed steps first, then those retried or active, then the rest in order. */
const ranks = {
  STEP_FAILED: 0,
  STEP_RETRY: 1,
  STEP_PROGRESS: 2,
  STEP_CANCELED: 4,
  STEP_SUCCESS: 4,
} as const satisfies Readonly<Record<StepRow["state"], number>>;
const well = 4;
const rankOf = ({ state, failures }: StepRow): number =>
  Math.min(ranks[state], failures > 0 ? well - 1 : well);

function groupsOf({ steps }: Run, rows: readonly StepRow[]): readonly Group[] {
  let at = 0;
  return steps.map((group) => {
    const members = rows.slice(at, (at += group.steps.length));
    if (members.length <= membersMax) return { rows: members, left: 0 };
    const drawn = members.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, membersMax - 1);
    return { rows: drawn, left: members.length - drawn.length };
  });
}

function cut(groups: readonly Group[]): readonly Group[] {
  if (groups.length <= 2 * groupsMax) return groups;
  const skipped = groups.slice(groupsMax, -groupsMax);
  const isTroubled = ({ rows }: Group): boolean => rows.some((row) => rankOf(row) < well);
  const drawn = new Set(
    skipped
      .filter(isTroubled)
      .toSorted((a, b) => worstOf(a) - worstOf(b))
      .slice(0, troubledGroupsMax),
  );
  const between: Group[] = [];
  let left = 0;
  for (const group of skipped) {
    if (!drawn.has(group)) {
      left += group.rows.length + group.left;
      continue;
    }
    if (left > 0) between.push({ rows: [], left });
    left = 0;
    between.push(group);
  }
  if (left > 0) between.push({ rows: [], left });
  return [...groups.slice(0, groupsMax), ...between, ...groups.slice(-groupsMax)];
}

const worstOf = ({ rows }: Group): number => Math.min(...rows.map(rankOf));

function nodesOf({ rows, left }: Group, column: number): readonly GraphNode[] {
  const more = left > 0 ? [{ id: `more-${column}`, left }] : [];
  const all = [...rows.map((row) => ({ id: row.key, row })), ...more];
  const middle = (all.length - 1) / 2;
  return all.map((node, nth) => ({ ...node, column, place: nth - middle }));
}
