import { type Token } from "@posthaste/client/api";
import { useAsked, useChange } from "../../api/asked.ts";
import { shown } from "../../api/text.ts";
import { Empty } from "../../parts/empty.tsx";
import { Action } from "../../parts/action.tsx";
import { FaultyForm, type Input, Inputs } from "../../parts/fields.tsx";
import { Panel } from "../../parts/page.tsx";
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
      isActions: true,
      cell: ({ id }) => (
        <Action
          does="Revoke"
          to={id}
          asked={{ id: "revokeToken", params: [tenant, id] }}
          isFinal
          isSmall
        />
      ),
    },
  ];
  return (
    <Panel title="Tokens" aside="each was shown when it was made">
      <Trouble error={error} />
      <Table
        caption="Tokens; each was shown when it was made"
        columns={columns}
        rows={data}
        keyOf={keyOf}
        none={<Empty title="No tokens yet" />}
      />
      <Add tenant={tenant} />
    </Panel>
  );
}

const inputs: readonly Input[] = [
  {
    name: "scope",
    label: "It may",
    kind: [
      ["full", scopes.full],
      ["read", scopes.read],
    ],
    initial: "full",
  },
];

function Add({ tenant }: { readonly tenant: string }) {
  const { mutate, isPending, error, data } = useChange<"createToken">();
  return (
    <FaultyForm
      name="Another token"
      className="inline-form"
      inputs={inputs}
      error={error}
      onGiven={(form) => {
        const scope = form.get("scope") === "read" ? "read" : "full";
        mutate({ id: "createToken", params: [tenant], body: { scope } });
      }}
    >
      <Inputs inputs={inputs} />
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
    </FaultyForm>
  );
}
