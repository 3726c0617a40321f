import { type Tenant } from "@posthaste/client/api";
import { go, part } from "../../address.ts";
import { useAsked, useChange } from "../../api/asked.ts";
import { useSession } from "../../api/session.ts";
import { durationOf, shown } from "../../api/text.ts";
import { Empty } from "../../parts/empty.tsx";
import { FaultyForm, type Input, Inputs } from "../../parts/fields.tsx";
import { textIn } from "../../parts/form.ts";
import { Page, Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";

const columns: readonly Column<Tenant>[] = [
  { title: "Tenant", cell: ({ id }) => shown(id), isLink: true },
  { title: "Dialect", cell: ({ dialect }) => dialect },
  { title: "Default retries", cell: ({ plan }) => plan.retriesDefault, isNumber: true },
  {
    title: "Maximum backlog",
    cell: ({ plan }) => plan.backlogMax.toLocaleString("en"),
    isNumber: true,
  },
  { title: "Log retention", cell: ({ plan }) => durationOf(plan.logMs), isNumber: true },
];

const keyOf = ({ id }: Tenant): string => id;
const linkOf = ({ id }: Tenant): string => `/tenants/${part(id)}`;

export function Tenants() {
  const { mayWrite } = useSession();
  const { data, error } = useAsked({ id: "listTenants" }, { fresh: "often" });
  return (
    <Page title="Tenants">
      <Trouble error={error} />
      <Table
        caption="Tenants"
        columns={columns}
        rows={data}
        keyOf={keyOf}
        linkOf={linkOf}
        none={<Empty title="No tenants yet" />}
      />
      {mayWrite && (
        <Panel title="New tenant">
          <Add />
        </Panel>
      )}
    </Page>
  );
}

const inputs: readonly Input[] = [
  { name: "id", label: "Id", isRequired: true },
  {
    name: "dialect",
    label: "Dialect",
    kind: [
      ["service", "Service-"],
      ["upstash", "Upstash-"],
    ],
    initial: "service",
  },
];

function Add() {
  const { mutate, isPending, error } = useChange<"createTenant">();
  const submit = (form: FormData): void => {
    const id = textIn(form, "id");
    const dialect = form.get("dialect") === "upstash" ? "upstash" : "service";
    mutate(
      { id: "createTenant", body: { id, dialect } },
      { onSuccess: (made) => go(`/tenants/${part(made.id)}`) },
    );
  };
  return (
    <FaultyForm
      name="New tenant"
      className="inline-form"
      inputs={inputs}
      error={error}
      onGiven={submit}
    >
      <Inputs inputs={inputs} />
      <button type="submit" disabled={isPending}>
        Create tenant
      </button>
    </FaultyForm>
  );
}
