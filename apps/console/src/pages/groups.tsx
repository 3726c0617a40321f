import { type UrlGroup } from "@posthaste/client/api";
import { useState } from "react";
import { go, part } from "../address.ts";
import { useAsked, useChange } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { postAsCurl } from "../parts/copy.tsx";
import { Sheet } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { FaultyForm, type Input, Inputs } from "../parts/fields.tsx";
import { textIn } from "../parts/form.ts";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, Short } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";

const columns: readonly Column<UrlGroup>[] = [
  { title: "Group", cell: ({ name }) => shown(name), isLink: true },
  { title: "Endpoints", cell: ({ endpoints }) => endpoints.length, isNumber: true },
  { title: "First endpoint", cell: ({ endpoints }) => <Short text={endpoints[0]?.url} /> },
  { title: "Changed", cell: ({ updatedAt }) => <Age at={updatedAt} /> },
];

const keyOf = ({ name }: UrlGroup): string => name;
const linkOf = ({ name }: UrlGroup): string => `/groups/${part(name)}`;

export function Groups() {
  const { mayWrite } = useSession();
  const [isMaking, setMaking] = useState(false);
  const { data, error } = useAsked({ id: "listGroups" }, { fresh: "once" });
  return (
    <Page
      title="Groups"
      actions={
        mayWrite && (
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            New group
          </button>
        )
      }
    >
      <Trouble error={error} />
      {isMaking && <NewGroup close={() => setMaking(false)} />}
      <Table
        caption="URL groups"
        columns={columns}
        rows={data}
        keyOf={keyOf}
        linkOf={linkOf}
        none={<NoneYet />}
      />
    </Page>
  );
}

const NoneYet = () => (
  <Empty
    title="No groups yet"
    curl={postAsCurl("topics/orders/endpoints", {
      headers: [["Content-Type", "application/json"]],
      body: '{"endpoints":[{"url":"https://example.com/orders"}]}',
    })}
  >
    The first endpoint creates a group:
  </Empty>
);

const inputs: readonly Input[] = [
  { name: "name", label: "Name", isRequired: true, sentAs: "urlGroupName" },
  { name: "url", label: "URL of the first endpoint", isRequired: true, sentAs: "endpoints[0].url" },
];

function NewGroup({ close }: { readonly close: () => void }) {
  const { mutate, isPending, error } = useChange<"upsertEndpoints">();
  return (
    <Sheet title="New group" close={close}>
      <FaultyForm
        name="New group"
        inputs={inputs}
        error={error}
        onGiven={(form) => {
          const name = textIn(form, "name");
          const url = textIn(form, "url");
          mutate(
            { id: "upsertEndpoints", params: [name], body: { endpoints: [{ url }] } },
            { onSuccess: () => go(`/groups/${part(name)}`) },
          );
        }}
      >
        <Inputs inputs={inputs} />
        <div className="buttons">
          <button type="submit" className="primary" disabled={isPending}>
            Create group
          </button>
        </div>
      </FaultyForm>
    </Sheet>
  );
}
