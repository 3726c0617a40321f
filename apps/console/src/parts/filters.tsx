/** The filters of a list. What is asked for stands in the address, so that a view can be sent on. */
import { type FormEvent, useState } from "react";
import { useSearch } from "../address.ts";
import { textIn } from "./form.ts";
import { type Field, isFiltered } from "../rules/filters.ts";

export function Filters({ fields }: { readonly fields: readonly Field[] }) {
  const [search, setSearch] = useSearch();
  const seldom = fields.filter(({ isSeldom }) => isSeldom);
  const [isOpen, setOpen] = useState(isFiltered(search, seldom));
  const often = fields.filter(({ isSeldom }) => !isSeldom);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = ({ name }: Field): string =>
      form.has(name) ? textIn(form, name) : (search.get(name) ?? "");
    setSearch(fields.map((field) => [field.name, given(field)]));
  };
  const isSet = isFiltered(search, fields);
  return (
    <form key={search.toString()} aria-label="Filters" className="filters" onSubmit={submit}>
      {[...often, ...(isOpen ? seldom : [])].map((field) => (
        <FieldInput key={field.name} field={field} value={search.get(field.name) ?? ""} />
      ))}
      <span className="buttons">
        <button type="submit">Filter</button>
        {isSet && (
          <button type="button" className="quiet" onClick={() => setSearch([])}>
            Clear
          </button>
        )}
        {seldom.length > 0 && (
          <button
            type="button"
            className="quiet"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "Fewer filters" : "More filters"}
          </button>
        )}
      </span>
    </form>
  );
}

type InputProps = { readonly field: Field; readonly value: string };

function FieldInput({ field: { name, label, kind }, value }: InputProps) {
  return (
    <label>
      {label}
      {typeof kind === "object" ? (
        <select
          name={name}
          defaultValue={value}
          onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
        >
          <option value="">any</option>
          {kind.choices.map(([choice, words]) => (
            <option key={choice} value={choice}>
              {words}
            </option>
          ))}
        </select>
      ) : (
        <input
          name={name}
          type={kind === "text" ? "text" : "datetime-local"}
          defaultValue={value}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </label>
  );
}
