/** Expressions of aggregations. Anything that the adapter does not use is refused. */
import { at, compare, isList, isPlain, isSame, type Plain, sent } from "./values.ts";

export function evaluate(document: Plain, expression: unknown): unknown {
  if (typeof expression === "string" && expression.startsWith("$")) {
    if (expression === "$$ROOT") return document;
    if (expression === "$$REMOVE") return undefined;
    if (expression.startsWith("$$")) throw new Error(`no ${expression} in memory`);
    return at(document, expression.slice(1));
  }
  if (isList(expression)) return expression.map((each) => evaluate(document, each));
  if (!isPlain(expression)) return expression;
  const [[operator = "", operand] = []] = Object.entries(expression);
  if (operator === "$literal") return operand;
  if (!operator.startsWith("$"))
    return sent(
      Object.fromEntries(
        Object.entries(expression).map(([name, each]) => [name, evaluate(document, each)]),
      ),
    );
  const values = (isList(operand) ? operand : [operand]).map((each) => evaluate(document, each));
  return applied(operator, values);
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

function applied(operator: string, values: readonly unknown[]): unknown {
  const [first, second] = values;
  switch (operator) {
    case "$add":
      return values.some(isNothing)
        ? null
        : values.reduce<number>((sum, each) => sum + Number(each), 0);
    case "$subtract":
      return values.some(isNothing) ? null : Number(first) - Number(second);
    case "$max":
      return (
        values
          .filter((each) => !isNothing(each))
          .toSorted(compare)
          .at(-1) ?? null
      );
    case "$min":
      return values.filter((each) => !isNothing(each)).toSorted(compare)[0] ?? null;
    case "$gt":
      return compare(first, second) > 0;
    case "$gte":
      return compare(first, second) >= 0;
    case "$eq":
      return isSame(first, second);
    case "$cond":
      return first === true ? second : values[2];
    case "$ifNull":
      return values.find((each) => !isNothing(each)) ?? values.at(-1);
    case "$indexOfArray":
      return isList(first) ? first.findIndex((each) => isSame(each, second)) : null;
    case "$arrayElemAt":
      return isList(first) ? first.at(Number(second)) : null;
    case "$mergeObjects":
      return Object.assign({}, ...values) as unknown;
    default:
      throw new Error(`no ${operator} in memory`);
  }
}
