/** A table that people look at while it changes. On a phone rows are cards. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { isPassing } from "../api/asked.ts";
import { type Refused } from "../api/call.ts";
import { steady } from "../rules/steady.ts";

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  /** This column's text is the link of the whole row, see `linkOf`. */
  readonly isLink?: boolean;
};

type Props<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  /** Why there are no rows. Nothing is shown then, unless the same request may be answered later. */
  readonly error?: Refused | null;
  readonly keyOf: (row: Row) => string;
  readonly linkOf?: (row: Row) => string;
  /** Returns the row's buttons, which have a column without a title. */
  readonly actions?: false | ((row: Row) => ReactNode);
  /** Shown for an empty table. */
  readonly none: ReactNode;
};

/** Keeps every row in place while the pointer is over it: new rows wait, and removed ones are marked. Give another list another key. */
export function Table<Row>(props: Props<Row>) {
  const { caption, columns, rows, error, keyOf, linkOf, actions = false, none } = props;
  const [isHeld, pointing] = usePointed();
  const before = useRef<readonly Row[]>([]);
  const region = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  const { shown, gone, coming } = steady(rows ?? [], isHeld ? before.current : [], keyOf);
  before.current = shown;
  useEffect(() => {
    // A removed row loses the focus, so the table takes it.
    if (hadFocus.current && document.activeElement === document.body) region.current?.focus();
    hadFocus.current = region.current?.contains(document.activeElement) ?? false;
  });
  if (!rows && error && !isPassing(error)) return null;
  return (
    <div
      ref={region}
      className="table cards"
      tabIndex={0}
      role="region"
      aria-label={caption}
      aria-busy={rows === undefined}
      {...pointing}
      onFocus={() => (hadFocus.current = true)}
    >
      {rows !== undefined && shown.length === 0 ? (
        none
      ) : (
        <table>
          <caption className={coming > 0 ? undefined : "hidden"}>
            {caption}
            <span role="status">
              {coming > 0 && ` · ${coming} new, shown when the pointer stops`}
            </span>
          </caption>
          <thead>
            <tr>
              {columns.map(({ title, isNumber }) => (
                <th key={title} scope="col" className={isNumber ? "number" : undefined}>
                  <span>{title}</span>
                </th>
              ))}
              {actions && (
                <th scope="col">
                  <span className="hidden">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows === undefined ? (
              <Skeletons columns={columns.length + (actions ? 1 : 0)} />
            ) : (
              shown.map((row) => (
                <tr key={keyOf(row)} inert={gone.has(keyOf(row))}>
                  {columns.map((column) => (
                    <Cell key={column.title} column={column} row={row} link={linkOf?.(row)} />
                  ))}
                  {actions && (
                    <td className="actions">
                      <div>{actions(row)}</div>
                    </td>
                  )}
                </tr>
              ))
            )}
          </tbody>
        </table>
      )}
    </div>
  );
}

type CellProps<Row> = {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly link: string | undefined;
};

function Cell<Row>({ column, row, link }: CellProps<Row>) {
  const content = column.cell(row);
  return (
    <td data-title={column.title} className={column.isNumber ? "number" : undefined}>
      {column.isLink && link !== undefined ? (
        <a className="row-link" href={`#${link}`}>
          {content}
        </a>
      ) : (
        content
      )}
    </td>
  );
}

/** The rows of the placeholder, so that nothing jumps. */
const rowsBefore = 8;

const Skeletons = ({ columns }: { readonly columns: number }) =>
  Array.from({ length: rowsBefore }, (_, row) => (
    <tr key={row}>
      {Array.from({ length: columns }, (_each, column) => (
        <td key={column}>
          <span className="skeleton" />
        </td>
      ))}
    </tr>
  ));

/** A pointer that rests this long is not about to click. */
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
