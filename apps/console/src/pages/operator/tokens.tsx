/** The tokens of a tenant. One that is made is shown this once. */
import { type Token } from "@posthaste/client/api";
import { type FormEvent } from "react";
import { useAsked, useChange } from "../../api/asked.ts";
import { shown } from "../../api/text.ts";
import { Action } from "../../parts/action.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/text.tsx";
import { Trouble } from "../../parts/trouble.tsx";

const scopes = { full: "everything", read: "may only read" } as const;
const keyOf = ({ id }: Token): string => id;

export function Tokens({ tenant }: { readonly tenant: string }) {
  const { data, error } = useAsked({ id: "listTokens", params: [tenant] }, { fresh: "often" });
  const columns: readonly Column<Token>[] = [
    { title: "Token", cell: ({ id }) => <span className="mono">{shown(id)}</span> },
    { title: "May", cell: ({ scope }) => scopes[scope] },
    { title: "Made", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: "Actions",
      cell: ({ id }) => (
        <Action does="Revoke" to={id} asked={{ id: "revokeToken", params: [tenant, id] }} isFinal />
      ),
    },
  ];
  return (
    <>
      <h2>Tokens</h2>
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        caption="Tokens; each was shown when it was made"
        columns={columns}
        rows={data}
        keyOf={keyOf}
        none="none"
      />
      <Add tenant={tenant} />
    </>
  );
}

function Add({ tenant }: { readonly tenant: string }) {
  const { mutate, isPending, error, data } = useChange<"createToken">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const scope = new FormData(event.currentTarget).get("scope") === "read" ? "read" : "full";
    mutate({ id: "createToken", params: [tenant], body: { scope } });
  };
  return (
    <form className="form" aria-label="Another token" onSubmit={submit}>
      <label>
        It may
        <select name="scope" defaultValue="full">
          <option value="full">{scopes.full}</option>
          <option value="read">{scopes.read}</option>
        </select>
      </label>
      <button type="submit" disabled={isPending}>
        Make a token
      </button>
      <span role="status">
        {data && (
          <>
            Shown this once: <code className="secret">{data.token}</code>
          </>
        )}
      </span>
      <Trouble error={error} />
    </form>
  );
}
