/** Projections: the requested parts of a document. */
import { evaluate } from "./expressions.ts";
import { at, isList, isPlain, type Plain, put, sent } from "./values.ts";

type Path = readonly string[];

/** Returns the parts that the projection includes, or all except those that it excludes. */
export function projected(document: Plain, projection: Plain = {}): Plain {
  const { _id: ofId = 1, ...fields } = projection;
  const computed = Object.entries(fields).filter(([, how]) => isPlain(how));
  const plain = Object.entries(fields).filter(([, how]) => !isPlain(how));
  const paths = plain.map(([path]) => path.split("."));
  const takes =
    plain.some(([, how]) => how === 1) ||
    computed.length > 0 ||
    (projection["_id"] === 1 && plain.length === 0);
  if (takes && plain.some(([, how]) => how !== 1)) throw new Error("a projection takes or leaves");
  const { _id, ...rest } = document;
  const part = takes ? taken(rest, paths) : paths.reduce(without, rest);
  const whole = computed.reduce<Plain>((now, [path, how]) => {
    const value = computedAt(document, path, how as Plain);
    return value === undefined ? now : put(now, path, value);
  }, part as Plain);
  return ofId === 1 ? { _id, ...whole } : whole;
}

function computedAt(document: Plain, path: string, how: Plain): unknown {
  if (!("$slice" in how)) return evaluate(document, how);
  const list = at(document, path);
  return isList(list) ? list.slice(0, Number(how["$slice"])) : list;
}

/** Returns the values at the paths, in each element of a list, with the objects around them. */
function taken(value: unknown, paths: readonly Path[]): unknown {
  if (paths.some((path) => path.length === 0)) return value;
  if (isList(value)) return value.map((each) => taken(each, paths));
  if (!isPlain(value)) return undefined;
  const byName = Map.groupBy(paths, ([name = ""]) => name);
  return sent(
    Object.fromEntries(
      [...byName].map(([name, those]) => [
        name,
        taken(
          value[name],
          those.map((path) => path.slice(1)),
        ),
      ]),
    ),
  );
}

/** Leaves out the value at the path, in each element of a list. */
function without(value: unknown, [name = "", ...rest]: Path): unknown {
  if (isList(value)) return value.map((each) => without(each, [name, ...rest]));
  if (!isPlain(value) || !(name in value)) return value;
  const { [name]: part, ...others } = value;
  return rest.length === 0 ? others : { ...others, [name]: without(part, rest) };
}
