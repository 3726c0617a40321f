/** The audit log: of the tenant, and in the operator's console of the installation. */
import { type Change } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { type Refused } from "../api/call.ts";
import { shown } from "../api/text.ts";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";

const columns: readonly Column<Change>[] = [
  { title: "Time", cell: ({ at }) => <Time at={at} /> },
  {
    title: "By",
    cell: ({ by: { kind, id, name, role } }) => shown(`${role ?? kind} ${name ?? id}`),
  },
  { title: "Action", cell: ({ operation }) => shown(operation) },
  { title: "Target", cell: ({ resource }) => <span className="mono">{shown(resource)}</span> },
  { title: "Result", cell: ({ result }) => shown(result) },
  { title: "Address", cell: ({ address = "" }) => shown(address) },
];
const wholeColumns: readonly Column<Change>[] = [
  ...columns,
  { title: "Tenant", cell: ({ tenant = "" }) => shown(tenant) },
];

const keyOf = ({ id }: Change): string => id;

export function Audit() {
  const { data, error } = useAsked({ id: "listChanges", query: useCursor() }, { fresh: "slowly" });
  return <Changes columns={columns} data={data} error={error} />;
}

export function WholeAudit() {
  const asked = { id: "listAllChanges", query: useCursor() } as const;
  const { data, error } = useAsked(asked, { fresh: "slowly" });
  return <Changes columns={wholeColumns} data={data} error={error} />;
}

function useCursor(): { readonly cursor?: string } {
  const [search] = useSearch();
  const cursor = search.get("cursor");
  return cursor === null ? {} : { cursor };
}

type Listed = {
  readonly columns: readonly Column<Change>[];
  readonly data: { readonly changes: Change[]; readonly cursor?: string } | undefined;
  readonly error: Refused | null;
};

const Changes = ({ columns: asked, data, error }: Listed) => (
  <Page title="Audit log">
    <Trouble error={error} />
    <Table
      caption="Changes, latest first"
      columns={asked}
      rows={data?.changes}
      error={error}
      keyOf={keyOf}
      none={<Empty title="No changes yet" />}
    />
    <PagesOf cursor={data?.cursor} />
  </Page>
);
