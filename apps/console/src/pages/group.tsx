/** One URL group and its endpoints. */
import { type UrlGroup } from "@posthaste/client/api";
import { type FormEvent } from "react";
import { useLastPart } from "../address.ts";
import { useAsked, useChange } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { HeaderList } from "../parts/facts.tsx";
import { textIn } from "../parts/form.ts";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Trouble } from "../parts/trouble.tsx";

type Endpoint = UrlGroup["endpoints"][number];

const columns: readonly Column<Endpoint>[] = [
  { title: "URL", cell: ({ url }) => <span className="mono">{shown(url, 2_000)}</span> },
  { title: "Name", cell: ({ name }) => shown(name) },
];
const keyOf = ({ url, name = "" }: Endpoint): string => `${name} ${url}`;

export function GroupPage() {
  const name = useLastPart();
  const { mayWrite } = useSession();
  const { data, error } = useAsked({ id: "readGroup", params: [name] }, { fresh: "once" });
  const actions: Column<Endpoint> = {
    title: "Actions",
    cell: ({ url }) => (
      <Action
        does="Remove"
        to={url}
        asked={{ id: "removeEndpoints", params: [name], body: { endpoints: [{ url }] } }}
        isFinal
      />
    ),
  };
  return (
    <Page
      title={`Group ${shown(name)}`}
      actions={
        data && (
          <Action
            does="Remove the group"
            to={name}
            asked={{ id: "removeGroup", params: [name] }}
            isFinal
            leaveTo={() => "/groups"}
          />
        )
      }
    >
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        caption="Endpoints, in the order in which they were added"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={data?.endpoints}
        keyOf={keyOf}
        none="none"
      />
      {data && mayWrite && <Add group={name} />}
      {data?.headers && (
        <>
          <h2>Settings of its publishes</h2>
          <HeaderList headers={data.headers} />
        </>
      )}
    </Page>
  );
}

function Add({ group }: { readonly group: string }) {
  const { mutate, isPending, error } = useChange<"upsertEndpoints">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    const name = textIn(values, "name");
    const endpoint = { url: textIn(values, "url"), ...(name !== "" && { name }) };
    mutate(
      { id: "upsertEndpoints", params: [group], body: { endpoints: [endpoint] } },
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <form className="form" aria-label="Add an endpoint" onSubmit={submit}>
      <label>
        URL
        <input name="url" required autoComplete="off" size={48} />
      </label>
      <label>
        Name
        <input name="name" autoComplete="off" />
      </label>
      <button type="submit" disabled={isPending}>
        Add the endpoint
      </button>
      <Trouble error={error} />
    </form>
  );
}
