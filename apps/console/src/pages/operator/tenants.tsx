/** The tenants of this installation. */
import { type Tenant } from "@posthaste/client/api";
import { type FormEvent } from "react";
import { go, part } from "../../address.ts";
import { useAsked, useChange } from "../../api/asked.ts";
import { durationOf } from "../../api/text.ts";
import { textIn } from "../../parts/form.ts";
import { Page } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Id } from "../../parts/text.tsx";
import { Trouble } from "../../parts/trouble.tsx";

const columns: readonly Column<Tenant>[] = [
  { title: "Tenant", cell: ({ id }) => <Id to="/tenants" id={id} /> },
  { title: "Dialect", cell: ({ dialect }) => dialect },
  { title: "Retries by default", cell: ({ plan }) => plan.retriesDefault, isNumber: true },
  {
    title: "Backlog at most",
    cell: ({ plan }) => plan.backlogMax.toLocaleString("en"),
    isNumber: true,
  },
  { title: "Log kept for", cell: ({ plan }) => durationOf(plan.logMs), isNumber: true },
];

const keyOf = ({ id }: Tenant): string => id;

export function Tenants() {
  const { data, error } = useAsked({ id: "listTenants" }, { fresh: "often" });
  return (
    <Page title="Tenants">
      <Trouble error={error} isStale={data !== undefined} />
      <Table caption="Tenants" columns={columns} rows={data} keyOf={keyOf} none="none" />
      <h2>Another tenant</h2>
      <Add />
    </Page>
  );
}

function Add() {
  const { mutate, isPending, error } = useChange<"createTenant">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const id = textIn(form, "id");
    const dialect = form.get("dialect") === "upstash" ? "upstash" : "service";
    mutate(
      { id: "createTenant", body: { id, dialect } },
      { onSuccess: (made) => go(`/tenants/${part(made.id)}`) },
    );
  };
  return (
    <form className="form" aria-label="Another tenant" onSubmit={submit}>
      <label>
        Id
        <input name="id" required autoComplete="off" spellCheck={false} />
      </label>
      <label>
        Dialect
        <select name="dialect" defaultValue="service">
          <option value="service">Service-</option>
          <option value="upstash">Upstash-</option>
        </select>
      </label>
      <button type="submit" disabled={isPending}>
        Make the tenant
      </button>
      <Trouble error={error} />
    </form>
  );
}
