import { type UrlGroup } from "@posthaste/client/api";
import { useRef } from "react";
import { useLastPart } from "../address.ts";
import { useAsked, useChange } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Empty } from "../parts/empty.tsx";
import { Action } from "../parts/action.tsx";
import { HeaderList } from "../parts/facts.tsx";
import { FaultyForm, type Input, Inputs } from "../parts/fields.tsx";
import { textIn } from "../parts/form.ts";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { useSay } from "../parts/toasts.tsx";
import { pairsIn } from "../rules/publication.ts";

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
  const actions = ({ url }: Endpoint) => (
    <Action
      does="Remove"
      to={url}
      asked={{ id: "removeEndpoints", params: [name], body: { endpoints: [{ url }] } }}
      isFinal
      isSmall
    />
  );
  const listed = new URLSearchParams({ topicName: name }).toString();
  return (
    <Page
      title="Group"
      id={name}
      actions={
        data && (
          <>
            <a className="button" href={`#/messages?${listed}`}>
              Messages
            </a>
            <Action
              does="Remove group"
              to={name}
              asked={{ id: "removeGroup", params: [name] }}
              isFinal
              leaveTo={() => "/groups"}
            />
          </>
        )
      }
    >
      <Trouble error={error} />
      <Panel title="Endpoints" aside="in the order in which they were added">
        <Table
          caption="Endpoints, in the order in which they were added"
          columns={columns}
          rows={data?.endpoints}
          error={error}
          keyOf={keyOf}
          actions={mayWrite && actions}
          none={<Empty title="No endpoints" />}
        />
        {data && mayWrite && <Add group={name} />}
      </Panel>
      {data && (mayWrite || data.headers) && (
        <Panel title="Default headers">
          <Inside>
            {mayWrite ? (
              <Settings key={data.updatedAt} group={data} />
            ) : (
              <HeaderList headers={data.headers} />
            )}
          </Inside>
        </Panel>
      )}
    </Page>
  );
}

const addInputs: readonly Input[] = [
  { name: "url", label: "URL", isRequired: true, sentAs: "endpoints[0].url" },
  { name: "name", label: "Name", sentAs: "endpoints[0].name" },
];

function Add({ group }: { readonly group: string }) {
  const { mutate, isPending, error } = useChange<"upsertEndpoints">();
  const form = useRef<HTMLFormElement>(null);
  return (
    <FaultyForm
      name="Add an endpoint"
      className="inline-form"
      formRef={form}
      inputs={addInputs}
      error={error}
      onGiven={(values) => {
        const name = textIn(values, "name");
        const endpoint = { url: textIn(values, "url"), ...(name !== "" && { name }) };
        mutate(
          { id: "upsertEndpoints", params: [group], body: { endpoints: [endpoint] } },
          { onSuccess: () => form.current?.reset() },
        );
      }}
    >
      <Inputs inputs={addInputs} />
      <button type="submit" disabled={isPending}>
        Add endpoint
      </button>
    </FaultyForm>
  );
}

function Settings({ group: { name, headers = {} } }: { readonly group: UrlGroup }) {
  const say = useSay();
  const { mutate, isPending, error } = useChange<"configureGroup">();
  const lines = Object.entries(headers).flatMap(([header, values]) =>
    [values].flat().map((value) => `${header}: ${value}`),
  );
  const inputs: readonly Input[] = [
    {
      name: "headers",
      label: "Headers for publishes that do not set their own",
      kind: "area",
      initial: lines.join("\n"),
      hint: "One per line, such as Service-Retries: 5",
    },
  ];
  return (
    <FaultyForm
      name="Default headers"
      inputs={inputs}
      error={error}
      onGiven={(form) => {
        const given = Map.groupBy(pairsIn(textIn(form, "headers")), ([header]) => header);
        const body = {
          headers: Object.fromEntries(
            [...given].map(([header, pairs]) => [header, pairs.map(([, value]) => value)]),
          ),
        };
        mutate(
          { id: "configureGroup", params: [name], body },
          { onSuccess: () => say("The default headers were saved.") },
        );
      }}
    >
      <Inputs inputs={inputs} />
      <div className="buttons">
        <button type="submit" disabled={isPending}>
          Save default headers
        </button>
      </div>
    </FaultyForm>
  );
}
