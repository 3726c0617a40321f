/** A table of things that are looked at while they change. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { steady } from "../rules/steady.ts";

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
};

type Props<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined: not known yet. */
  readonly rows: readonly Row[] | undefined;
  /** Of each row its own. */
  readonly keyOf: (row: Row) => string;
  /** What is said when there is nothing. */
  readonly none: string;
};

/**
 * While it is pointed at no row moves: what has come waits, what has gone is shown as gone. Another list is another table: it
 * has a key.
 */
export function Table<Row>({ caption, columns, rows, keyOf, none }: Props<Row>) {
  const [isHeld, pointing] = usePointed();
  const before = useRef<readonly Row[]>([]);
  const region = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  const { shown, gone, coming } = steady(rows ?? [], isHeld ? before.current : [], keyOf);
  before.current = shown;
  useEffect(() => {
    // A row that goes takes the focus with it, unless that is given back.
    if (hadFocus.current && document.activeElement === document.body) region.current?.focus();
    hadFocus.current = region.current?.contains(document.activeElement) ?? false;
  });
  return (
    <div
      ref={region}
      className="scroll"
      tabIndex={0}
      role="region"
      aria-label={caption}
      {...pointing}
      onFocus={() => (hadFocus.current = true)}
    >
      <table>
        <caption>
          {caption}
          <span role="status">
            {rows === undefined && " · loading"}
            {rows !== undefined && shown.length === 0 && ` · ${none}`}
            {coming > 0 && ` · ${coming} new, shown when the pointer rests`}
          </span>
        </caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)} inert={gone.has(keyOf(row))}>
              {columns.map(({ title, cell, isNumber }) => (
                <td key={title} className={isNumber ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A pointer that rests for so long is not about to click. */
const restMs = 4_000;

function usePointed() {
  const [isPointed, setPointed] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const leave = (): void => {
    clearTimeout(timer.current);
    setPointed(false);
  };
  const move = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(leave, restMs);
    setPointed(true);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return [isPointed, { onPointerMove: move, onPointerLeave: leave }] as const;
}
