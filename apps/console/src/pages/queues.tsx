/** Queues: how much stands in each, and whether it goes on. */
import { type Queue } from "@posthaste/client/api";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { State, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";

const columns: readonly Column<Queue>[] = [
  { title: "Queue", cell: ({ name }) => <a href={messagesOf(name)}>{shown(name)}</a> },
  {
    title: "State",
    cell: ({ paused }) =>
      paused ? <State tone="busy">paused</State> : <State tone="good">active</State>,
  },
  { title: "Waiting or under way", cell: ({ lag }) => lag, isNumber: true },
  { title: "At once", cell: ({ parallelism }) => parallelism, isNumber: true },
  { title: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];
const actions: Column<Queue> = {
  title: "Actions",
  cell: ({ name, paused }) => (
    <>
      {paused ? (
        <Action does="Resume" to={name} asked={{ id: "resumeQueue", params: [name] }} />
      ) : (
        <Action does="Pause" to={name} asked={{ id: "pauseQueue", params: [name] }} />
      )}
      <Action
        does="Delete with its messages"
        to={name}
        asked={{ id: "removeQueue", params: [name] }}
        isFinal
      />
    </>
  ),
};

const messagesOf = (name: string): string =>
  `#/messages?${new URLSearchParams({ queueName: name }).toString()}`;

const keyOf = ({ name }: Queue): string => name;

export function Queues() {
  const { mayWrite } = useSession();
  const { data, error } = useAsked({ id: "listQueues" }, { fresh: "often" });
  return (
    <Page title="Queues">
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        caption="Queues, by name"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={data}
        keyOf={keyOf}
        none="none"
      />
    </Page>
  );
}
