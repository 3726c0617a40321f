/** The filters of a list. The address holds them, so that a view can be shared. */
import { Menu } from "@base-ui/react/menu";
import { ChevronDown } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useSearch } from "../address.ts";
import { textIn } from "./form.ts";
import { type Field, isFiltered, localInput, utcInput } from "../rules/filters.ts";

export function Filters({ fields }: { readonly fields: readonly Field[] }) {
  const [search, setSearch] = useSearch();
  const seldom = fields.filter(({ isSeldom }) => isSeldom);
  const [isOpen, setOpen] = useState(isFiltered(search, seldom));
  const often = fields.filter(({ isSeldom }) => !isSeldom);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = ({ name, kind }: Field): string => {
      if (!form.has(name)) return search.get(name) ?? "";
      const text = textIn(form, name);
      return kind === "from" || kind === "to" ? utcInput(text) : text;
    };
    setSearch(fields.map((field) => [field.name, given(field)]));
  };
  const since = (ms: number): void => {
    const from = new Date(Date.now() - ms).toISOString().slice(0, 16);
    setSearch(new Map([...search, ["fromDate", from], ["toDate", ""], ["cursor", ""]]));
  };
  const isSet = isFiltered(search, fields);
  return (
    <form
      key={search.toString()}
      aria-label="Filters"
      className={fields.length < few ? "filters few" : "filters"}
      onSubmit={submit}
    >
      <div className="row">
        {[...often, ...(isOpen ? seldom : [])].map((field) => (
          <FieldInput key={field.name} field={field} value={search.get(field.name) ?? ""} />
        ))}
      </div>
      <div className="buttons">
        <button type="submit">Filter</button>
        {fields.some(({ kind }) => kind === "from") && <Since set={since} />}
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
        {isSet && (
          <button type="button" className="quiet" onClick={() => setSearch([])}>
            Clear
          </button>
        )}
      </div>
    </form>
  );
}

const few = 2;
const hourMs = 3_600_000;
const spans = [
  ["The last 15 minutes", hourMs / 4],
  ["The last hour", hourMs],
  ["The last 24 hours", 24 * hourMs],
  ["The last 7 days", 7 * 24 * hourMs],
] as const;

function Since({ set }: { readonly set: (ms: number) => void }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="quiet">
        Since
        <ChevronDown className="icon" aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="positioner" align="start" sideOffset={4}>
          <Menu.Popup className="popup">
            {spans.map(([title, ms]) => (
              <Menu.Item key={title} className="item" onClick={() => set(ms)}>
                {title}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

type InputProps = { readonly field: Field; readonly value: string };

function FieldInput({ field: { name, label, kind }, value }: InputProps) {
  const id = `filter-${name}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {typeof kind === "object" ? (
        <select
          id={id}
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
          id={id}
          name={name}
          type={kind === "text" ? "text" : "datetime-local"}
          defaultValue={kind === "text" ? value : localInput(value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </div>
  );
}
