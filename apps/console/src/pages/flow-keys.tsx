/** Flow keys: the messages that wait for each, its limits, and whether the limits are pinned. */
import { type FlowKey } from "@posthaste/client/api";
import { useState } from "react";
import { useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { durationOf, shown } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { postAsCurl } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf, useSlice } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Filtered, State } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Field } from "../rules/filters.ts";
import { Pin } from "./flow-key-pin.tsx";

const fields: readonly Field[] = [{ name: "search", label: "Part of the flow key", kind: "text" }];
const rowsMax = 50;

const limitOf = (count: number, max: number): string =>
  max === 0 ? `${count}, no limit` : `${count} of ${max}`;

const columns: readonly Column<FlowKey>[] = [
  {
    title: "State",
    cell: ({ isPaused }) =>
      isPaused ? <State tone="busy">paused</State> : <State tone="good">active</State>,
  },
  {
    title: "Key",
    cell: ({ flowControlKey }) => (
      <Filtered to="/messages" by="flowControlKey" text={flowControlKey} />
    ),
  },
  { title: "Waiting", cell: ({ waitListSize }) => waitListSize, isNumber: true },
  {
    title: "Parallelism",
    cell: (key) => (
      <>
        {limitOf(key.parallelismCount, key.parallelismMax)}
        {key.isPinnedParallelism && <span className="muted"> pinned</span>}
      </>
    ),
  },
  {
    title: "Rate",
    cell: (key) => (
      <>
        {limitOf(key.rateCount, key.rateMax)}
        {key.rateMax > 0 && ` per ${durationOf(key.ratePeriod * 1_000)}`}
        {key.isPinnedRate && <span className="muted"> pinned</span>}
      </>
    ),
  },
];

const keyOf = ({ flowControlKey }: FlowKey): string => flowControlKey;

/** Sorts paused keys first, then by the number of waiting messages. */
const inOrder = (keys: readonly FlowKey[]): readonly FlowKey[] =>
  keys.toSorted(
    (a, b) => Number(b.isPaused) - Number(a.isPaused) || b.waitListSize - a.waitListSize,
  );

export function FlowKeys() {
  const { mayAct, mayWrite } = useSession();
  const [search] = useSearch();
  const [pinned, setPinned] = useState<FlowKey | "new">();
  const text = search.get("search") ?? "";
  const { data, error } = useAsked(
    { id: "listFlowKeys", query: { search: text } },
    { fresh: "often" },
  );
  const { rows, cursor } = useSlice(data && inOrder(data), rowsMax);
  return (
    <Page
      title="Flow keys"
      actions={
        mayWrite && (
          <button type="button" className="primary" onClick={() => setPinned("new")}>
            Pin a flow key
          </button>
        )
      }
    >
      <Filters fields={fields} />
      <Trouble error={error} />
      {pinned !== undefined && (
        <Pin {...(pinned !== "new" && { flowKey: pinned })} close={() => setPinned(undefined)} />
      )}
      <div>
        <Table
          key={search.toString()}
          caption="Flow keys, paused ones first, then by waiting messages"
          columns={columns}
          rows={rows}
          error={error}
          keyOf={keyOf}
          actions={
            mayAct && ((key: FlowKey) => <KeyActions flowKey={key} pin={() => setPinned(key)} />)
          }
          none={text === "" ? <NoneYet /> : <Empty title="No flow key matches" />}
        />
        <PagesOf cursor={cursor} />
      </div>
    </Page>
  );
}

const NoneYet = () => (
  <Empty
    title="No flow keys yet"
    curl={postAsCurl("publish/https://example.com/hook", {
      headers: [
        ["Service-Flow-Control-Key", "crm"],
        ["Service-Flow-Control-Value", "parallelism=2, rate=10, period=1m"],
      ],
    })}
  >
    A flow key exists once a message names it:
  </Empty>
);

type KeyActionsProps = { readonly flowKey: FlowKey; readonly pin: () => void };

function KeyActions({ flowKey, pin }: KeyActionsProps) {
  const { flowControlKey: key, isPaused, isPinnedParallelism, isPinnedRate } = flowKey;
  const { mayWrite } = useSession();
  const params = [key] as const;
  const query = {
    ...(isPinnedParallelism && { parallelism: true }),
    ...(isPinnedRate && { rate: true }),
  };
  return (
    <>
      <Action
        does={isPaused ? "Resume" : "Pause"}
        to={key}
        asked={{ id: isPaused ? "resumeFlowKey" : "pauseFlowKey", params }}
        isSmall
      />
      {mayWrite && (
        <button type="button" className="small" aria-label={`Pin ${shown(key)}`} onClick={pin}>
          Pin…
        </button>
      )}
      {(isPinnedParallelism || isPinnedRate) && (
        <Action does="Unpin" to={key} asked={{ id: "unpinFlowKey", params, query }} isSmall />
      )}
    </>
  );
}
