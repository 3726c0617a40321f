/** Filters, as the server applies them to one document. Anything that the adapter does not use is refused. */
import { evaluate } from "./expressions.ts";
import { areComparable, compare, found, isList, isPlain, isSame, type Plain } from "./values.ts";

export type Meets = (document: Plain) => boolean;
type Holds = (values: readonly unknown[]) => boolean;

/** Returns the filter as a predicate, which is made once for all documents. */
export function meeting(filter: Plain): Meets {
  const all = Object.entries(filter).flatMap(([name, test]) =>
    test === undefined ? [] : condition(name, test),
  );
  return (document) => all.every((meets) => meets(document));
}

function condition(name: string, test: unknown): Meets {
  switch (name) {
    case "$or": {
      const any = filtersIn(test).map(meeting);
      return (document) => any.some((meets) => meets(document));
    }
    case "$and": {
      const all = filtersIn(test).map(meeting);
      return (document) => all.every((meets) => meets(document));
    }
    case "$expr":
      return (document) => evaluate(document, test) === true;
    default: {
      if (name.startsWith("$")) throw new Error(`no ${name} in memory`);
      const holds = testing(test);
      return (document) => holds(found(document, name));
    }
  }
}

const filtersIn = (test: unknown): readonly Plain[] => listed(test).filter((each) => isPlain(each));

const isTest = (test: unknown): test is Plain =>
  isPlain(test) && Object.keys(test).some((name) => name.startsWith("$"));

function testing(test: unknown): Holds {
  if (!isTest(test)) return among([test]);
  const all = Object.entries(test).flatMap(([operator, operand]) =>
    operand === undefined ? [] : operation(operator, operand),
  );
  return (values) => all.every((holds) => holds(values));
}

function operation(operator: string, operand: unknown): Holds {
  const bounded = (by: (order: number) => boolean): Holds => {
    if (operand === null) throw new Error("no bound of null in memory");
    return (values) =>
      values.some((value) => areComparable(value, operand) && by(compare(value, operand)));
  };
  const not =
    (holds: Holds): Holds =>
    (values) =>
      !holds(values);
  switch (operator) {
    case "$exists":
      return (values) => values.length > 0 === operand;
    case "$in":
      return among(listed(operand));
    case "$nin":
      return not(among(listed(operand)));
    case "$eq":
      return among([operand]);
    case "$ne":
      return not(among([operand]));
    case "$not":
      return not(testing(operand));
    case "$gt":
      return bounded((order) => order > 0);
    case "$gte":
      return bounded((order) => order >= 0);
    case "$lt":
      return bounded((order) => order < 0);
    case "$lte":
      return bounded((order) => order <= 0);
    case "$size":
      return (values) => values.some((value) => isList(value) && value.length === operand);
    case "$elemMatch": {
      const meets = meeting(isPlain(operand) ? operand : {});
      return ([list]) => isList(list) && list.some((each) => isPlain(each) && meets(each));
    }
    case "$regex": {
      const pattern = new RegExp(String(operand));
      return (values) => values.some((value) => typeof value === "string" && pattern.test(value));
    }
    default:
      throw new Error(`no ${operator} in memory`);
  }
}

/** Matches any of the values. A missing field equals null. */
function among(wanted: readonly unknown[]): Holds {
  const simple = new Set(wanted);
  const others = wanted.filter((each) => typeof each === "object");
  const isWanted = (value: unknown): boolean =>
    simple.has(value) || (typeof value === "object" && others.some((each) => isSame(value, each)));
  return (values) => (values.length > 0 ? values.some(isWanted) : simple.has(null));
}

function listed(operand: unknown): readonly unknown[] {
  if (!isList(operand)) throw new Error(`${JSON.stringify(operand)} is no list`);
  return operand;
}
