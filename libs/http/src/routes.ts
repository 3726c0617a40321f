/** Finds the route of a path: a tree of the segments of all paths, where a literal segment goes before a parameter. */

export type Found<T> = {
  readonly value: T;
  /** The values of the path's parameters, as they came. */
  readonly values: readonly string[];
};

type Node<T> = {
  readonly literals: Map<string, Node<T>>;
  parameter?: Node<T>;
  value?: T;
};

const newNode = <T>(): Node<T> => ({ literals: new Map() });

/**
 * Makes a function that finds the route of a path. Case and one slash at the end do not matter; a parameter takes one segment that is not
 * empty.
 */
export function createRoutes<T>(
  routes: readonly (readonly [path: string, T])[],
): (path: string) => Found<T> | undefined {
  const root = newNode<T>();
  for (const [path, value] of routes) nodeOf(root, segmentsOf(path)).value = value;
  return (path) => find(root, segmentsOf(path), 0, []);
}

function nodeOf<T>(root: Node<T>, segments: readonly string[]): Node<T> {
  let node = root;
  for (const segment of segments) {
    if (isParameter(segment)) node = node.parameter ??= newNode();
    else {
      const known = node.literals.get(segment.toLowerCase());
      const next = known ?? newNode<T>();
      if (!known) node.literals.set(segment.toLowerCase(), next);
      node = next;
    }
  }
  return node;
}

/** Returns the names of a path's parameters. */
export const namesIn = (path: string): readonly string[] =>
  segmentsOf(path)
    .filter(isParameter)
    .map((segment) => segment.slice(1, -1));

const isParameter = (segment: string): boolean => segment.startsWith("{");

const segmentsOf = (path: string): readonly string[] =>
  path.slice(1, path.endsWith("/") ? -1 : undefined).split("/");

/** Calls itself once for each segment; a path of the table has at most a handful. */
function find<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Found<T> | undefined {
  const segment = segments[at];
  if (segment === undefined)
    return node.value === undefined ? undefined : { value: node.value, values };
  const literal = node.literals.get(segment.toLowerCase());
  const found = literal && find(literal, segments, at + 1, values);
  if (found || !node.parameter || segment === "") return found;
  return find(node.parameter, segments, at + 1, [...values, segment]);
}
