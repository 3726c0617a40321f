/** Updates, as the server applies them to one document. Anything that the adapter does not use is refused. */
import { evaluate } from "./expressions.ts";
import { meeting } from "./filters.ts";
import { at, compare, isList, isPlain, isSame, type Plain, put, sent } from "./values.ts";

export type Update = Plain | readonly Plain[];

/** `isNew`: the document is made by this update. */
export const updated = (document: Plain, update: Update, isNew = false): Plain =>
  isPlain(update) ? changed(document, sent(update), isNew) : update.reduce<Plain>(staged, document);

function changed(document: Plain, update: Plain, isNew: boolean): Plain {
  let next = document;
  for (const [operator, fields] of Object.entries(update))
    for (const [path, operand] of Object.entries(isPlain(fields) ? fields : {}))
      next = applied(next, operator, path, operand, isNew);
  return next;
}

function applied(
  document: Plain,
  operator: string,
  path: string,
  operand: unknown,
  isNew: boolean,
): Plain {
  const now = at(document, path);
  switch (operator) {
    case "$set":
      return put(document, path, operand);
    case "$setOnInsert":
      return isNew ? put(document, path, operand) : document;
    case "$unset":
      return put(document, path, undefined);
    case "$inc":
      return put(document, path, Number(now ?? 0) + Number(operand));
    case "$min":
      return now === undefined || compare(operand, now) < 0
        ? put(document, path, operand)
        : document;
    case "$max":
      return now === undefined || compare(operand, now) > 0
        ? put(document, path, operand)
        : document;
    case "$rename":
      return now === undefined
        ? document
        : put(put(document, path, undefined), String(operand), now);
    case "$push":
      return put(document, path, pushed(isList(now) ? now : [], operand));
    case "$pull": {
      if (!isList(now)) return document;
      const isTaken = pulling(operand);
      return put(
        document,
        path,
        now.filter((each) => !isTaken(each)),
      );
    }
    default:
      throw new Error(`no ${operator} in memory`);
  }
}

function pushed(list: readonly unknown[], operand: unknown): readonly unknown[] {
  if (!isPlain(operand) || !("$each" in operand)) return [...list, operand];
  const { $each, $slice, ...others } = operand;
  if (!isList($each) || Object.keys(others).length > 0)
    throw new Error(`no $push of ${Object.keys(operand).join(" ")} in memory`);
  const all = [...list, ...$each];
  if ($slice === undefined) return all;
  return Number($slice) < 0 ? all.slice(Number($slice)) : all.slice(0, Number($slice));
}

function pulling(operand: unknown): (each: unknown) => boolean {
  if (!isPlain(operand)) return (each) => isSame(each, operand);
  const meets = meeting(operand);
  return (each) => isPlain(each) && meets(each);
}

function staged(document: Plain, stage: Plain): Plain {
  const [[operator = "", operand] = []] = Object.entries(stage);
  switch (operator) {
    case "$set":
      return Object.entries(isPlain(operand) ? operand : {}).reduce((now, [field, expression]) => {
        if (field.includes(".")) throw new Error(`no ${field} of a stage in memory`);
        return put(now, field, evaluate(document, expression));
      }, document);
    case "$unset":
      return (isList(operand) ? operand : [operand]).reduce<Plain>(
        (now, path) => put(now, String(path), undefined),
        document,
      );
    case "$replaceWith": {
      const whole = evaluate(document, operand);
      if (!isPlain(whole)) throw new Error("$replaceWith needs a document");
      return whole;
    }
    default:
      throw new Error(`no stage ${operator} in memory`);
  }
}
