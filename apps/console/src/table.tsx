/** Plain parts that all pages are made of. */
import { type ReactNode } from "react";
import { type AnyAsked, type Refused, textOf } from "./api.ts";
import { useFilters } from "./address.ts";
import { useChange } from "./session.tsx";

export type Column<Row> = readonly [title: string, cell: (row: Row) => ReactNode];

type TableProps<Row> = {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
};

export function Table<Row>({ caption, columns, rows }: TableProps<Row>) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{rows.length === 0 ? `${caption}: none` : caption}</caption>
        <thead>
          <tr>
            {columns.map(([title]) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(([title, cell]) => (
                <td key={title}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Trouble({ error }: { readonly error: Refused | null }) {
  return error ? (
    <p role="alert" className="trouble">
      {error.message}
    </p>
  ) : null;
}

/** One field for each filter of a list; what is asked for stands in the address. */
export function Filters({ names }: { readonly names: readonly string[] }) {
  const [filters, setFilters] = useFilters();
  return (
    <form
      key={filters.toString()}
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setFilters(names.map((name) => [name, textOf(form.get(name)).trim()]));
      }}
    >
      {names.map((name) => (
        <label key={name}>
          {name}
          <input name={name} defaultValue={filters.get(name) ?? ""} />
        </label>
      ))}
      <button type="submit">Filter</button>
    </form>
  );
}

/** The next page of a list, by the cursor that the server gave. */
export function More({ cursor }: { readonly cursor: string | undefined }) {
  const [filters, setFilters] = useFilters();
  if (cursor === undefined || cursor === "") return null;
  const next = new Map(filters).set("cursor", cursor);
  return (
    <p>
      <button type="button" onClick={() => setFilters(next)}>
        Next page
      </button>
    </p>
  );
}

type ActionProps = { readonly name: string; readonly asked: AnyAsked };

export function Action({ name, asked }: ActionProps) {
  const { mutate, isPending, error } = useChange();
  return (
    <>
      <button type="button" disabled={isPending} onClick={() => mutate(asked)}>
        {name}
      </button>
      <Trouble error={error} />
    </>
  );
}
