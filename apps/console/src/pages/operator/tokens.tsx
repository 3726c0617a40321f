import { type Operations, type Token } from "@posthaste/client/api";
import { useAsked, useChange } from "../../api/asked.ts";
import { useSession } from "../../api/session.ts";
import { shown } from "../../api/text.ts";
import { Empty } from "../../parts/empty.tsx";
import { Action } from "../../parts/action.tsx";
import { FaultyForm, type Input, Inputs } from "../../parts/fields.tsx";
import { textIn } from "../../parts/form.ts";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/text.tsx";
import { Trouble } from "../../parts/trouble.tsx";

const scopes = {
  full: "everything",
  operate: "read, retry, pause and cancel",
  read: "read only",
  publish: "publish only",
  queue: "one queue only",
} as const;
const isPlain = (scope: string): scope is keyof typeof scopes => Object.hasOwn(scopes, scope);
const textOf = (scope: string): string =>
  isPlain(scope) ? scopes[scope] : `queue ${scope.replace("queue:", "")} only`;
const keyOf = ({ id }: Token): string => id;

const columns: readonly Column<Token>[] = [
  { title: "Token", cell: ({ id }) => <span className="mono">{shown(id)}</span> },
  { title: "Name", cell: ({ name }) => shown(name ?? "") },
  { title: "Scope", cell: ({ scope }) => shown(textOf(scope)) },
  { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
];

export function Tokens({ tenant }: { readonly tenant: string }) {
  const { mayWrite } = useSession();
  const { data, error } = useAsked({ id: "listTokens", params: [tenant] }, { fresh: "often" });
  const actions = ({ id }: Token) => (
    <Action
      does="Revoke"
      to={id}
      asked={{ id: "revokeToken", params: [tenant, id] }}
      isFinal
      isSmall
    />
  );
  return (
    <Panel title="Tokens" aside="a token is shown once, when it is created">
      <Trouble error={error} />
      <Table
        caption="Tokens"
        columns={columns}
        rows={data}
        error={error}
        keyOf={keyOf}
        actions={mayWrite && actions}
        none={<Empty title="No tokens yet" />}
      />
      {mayWrite && <Add tenant={tenant} />}
    </Panel>
  );
}

const dayMs = 86_400_000;

const inputs: readonly Input[] = [
  { name: "scope", label: "Scope", kind: Object.entries(scopes), initial: "full" },
  { name: "queue", label: "Queue", hint: "for the scope of one queue" },
  { name: "name", label: "Name" },
  {
    name: "expiresAt",
    label: "Expires",
    kind: [
      ["", "never"],
      ["30", "in 30 days"],
      ["90", "in 90 days"],
      ["365", "in a year"],
    ],
  },
];

function bodyOf(form: FormData): Operations["createToken"]["body"] {
  const given = (name: string): string => textIn(form, name);
  const [scope, name, days] = [given("scope"), given("name"), Number(given("expiresAt"))];
  return {
    scope: scope === "queue" ? `queue:${given("queue")}` : scope,
    ...(name !== "" && { name }),
    ...(days > 0 && { expiresAt: Date.now() + days * dayMs }),
  };
}

function Add({ tenant }: { readonly tenant: string }) {
  const { mutate, isPending, error, data } = useChange<"createToken">();
  return (
    <FaultyForm
      name="New token"
      className="inline-form"
      inputs={inputs}
      error={error}
      onGiven={(form) => mutate({ id: "createToken", params: [tenant], body: bodyOf(form) })}
    >
      <Inputs inputs={inputs} />
      <button type="submit" disabled={isPending}>
        Create token
      </button>
      <span role="status">
        {data && (
          <>
            Copy the token now. It is not shown again: <code className="secret">{data.token}</code>
          </>
        )}
      </span>
    </FaultyForm>
  );
}
