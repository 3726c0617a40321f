/** URL groups: to each a publish goes to all of its endpoints. */
import { type UrlGroup } from "@posthaste/client/api";
import { useAsked } from "../api/asked.ts";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Id, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";

const columns: readonly Column<UrlGroup>[] = [
  { title: "Group", cell: ({ name }) => <Id to="/groups" id={name} /> },
  { title: "Endpoints", cell: ({ endpoints }) => endpoints.length, isNumber: true },
  { title: "First endpoint", cell: ({ endpoints }) => <Short text={endpoints[0]?.url} /> },
  { title: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

const keyOf = ({ name }: UrlGroup): string => name;

export function Groups() {
  const { data, error } = useAsked({ id: "listGroups" }, { fresh: "once" });
  return (
    <Page title="Groups">
      <Trouble error={error} isStale={data !== undefined} />
      <Table caption="URL groups" columns={columns} rows={data} keyOf={keyOf} none="none" />
    </Page>
  );
}
