import { type Queue } from "@posthaste/client/api";
import { useState } from "react";
import { go, part } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { counted, shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { postAsCurl } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, State } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { QueueForm } from "./queue-form.tsx";

const columns: readonly Column<Queue>[] = [
  { title: "State", cell: (queue) => <QueueState queue={queue} /> },
  { title: "Queue", cell: ({ name }) => shown(name), isLink: true },
  { title: "Waiting or under way", cell: ({ lag }) => lag.toLocaleString("en"), isNumber: true },
  { title: "Parallelism", cell: ({ parallelism }) => parallelism, isNumber: true },
  { title: "Changed", cell: ({ updatedAt }) => <Age at={updatedAt} /> },
];

export function QueueState({ queue: { paused } }: { readonly queue: Queue }) {
  return paused ? <State tone="busy">paused</State> : <State tone="good">active</State>;
}

type ActionsProps = {
  readonly queue: Queue;
  readonly isSmall?: boolean;
  readonly removedTo?: string;
};

export function QueueActions({ queue, isSmall = false, removedTo }: ActionsProps) {
  const { name, paused, lag } = queue;
  return (
    <>
      <Action
        does={paused ? "Resume" : "Pause"}
        to={name}
        asked={{ id: paused ? "resumeQueue" : "pauseQueue", params: [name] }}
        isSmall={isSmall}
      />
      <Action
        does="Delete"
        to={name}
        asked={{ id: "removeQueue", params: [name] }}
        isFinal
        isSmall={isSmall}
        says={`This cancels the messages of the queue: ${counted(lag, "message")}.`}
        {...(removedTo !== undefined && { leaveTo: () => removedTo })}
      />
    </>
  );
}

const keyOf = ({ name }: Queue): string => name;
const linkOf = ({ name }: Queue): string => `/queues/${part(name)}`;

export function Queues() {
  const { mayAct, mayWrite } = useSession();
  const [isMaking, setMaking] = useState(false);
  const { data, error } = useAsked({ id: "listQueues" }, { fresh: "often" });
  return (
    <Page
      title="Queues"
      actions={
        mayWrite && (
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            New queue
          </button>
        )
      }
    >
      <Trouble error={error} />
      {isMaking && (
        <QueueForm close={() => setMaking(false)} done={(name) => go(`/queues/${part(name)}`)} />
      )}
      <Table
        caption="Queues, paused ones first, then by length"
        columns={columns}
        rows={data?.toSorted((a, b) => Number(b.paused) - Number(a.paused) || b.lag - a.lag)}
        keyOf={keyOf}
        linkOf={linkOf}
        actions={mayAct && ((queue: Queue) => <QueueActions queue={queue} isSmall />)}
        none={<NoneYet />}
      />
    </Page>
  );
}

const NoneYet = () => (
  <Empty
    title="No queues yet"
    curl={postAsCurl("enqueue/orders/https://example.com/orders", { body: '{"order":1}' })}
  >
    The first message to a queue creates the queue:
  </Empty>
);
