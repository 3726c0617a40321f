import { useState } from "react";
import { useLastPart } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { counted } from "../api/text.ts";
import { Facts } from "../parts/facts.tsx";
import { Inside, Page, Panel } from "../parts/page.tsx";
import { Filtered, timeOf } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { QueueForm } from "./queue-form.tsx";
import { QueueActions, QueueState } from "./queues.tsx";

export function QueuePage() {
  const name = useLastPart();
  const { mayWrite } = useSession();
  const [isChanging, setChanging] = useState(false);
  const { data, error } = useAsked({ id: "readQueue", params: [name] }, { fresh: "often" });
  const listed = (state: string): string =>
    `#/messages?${new URLSearchParams({ ...(state !== "" && { state }), queueName: name }).toString()}`;
  return (
    <Page
      title="Queue"
      id={name}
      state={data && <QueueState queue={data} />}
      actions={
        data && (
          <>
            {mayWrite && (
              <button type="button" onClick={() => setChanging(true)}>
                Edit…
              </button>
            )}
            <QueueActions queue={data} removedTo="/queues" />
          </>
        )
      }
    >
      <Trouble error={error} />
      {data && isChanging && (
        <QueueForm queue={data} close={() => setChanging(false)} done={() => undefined} />
      )}
      {data && (
        <>
          {data.paused && (
            <p className="notice busy">
              <span className="why">The queue is paused</span>
              {counted(data.lag, "message")} will wait until it is resumed.
            </p>
          )}
          <Panel title="Queue">
            <Inside>
              <Facts
                facts={[
                  ["Waiting or under way", data.lag.toLocaleString("en")],
                  ["Parallelism", data.parallelism],
                  ["Created", timeOf(data.createdAt)],
                  ["Changed", timeOf(data.updatedAt)],
                  [
                    "Messages",
                    <span className="buttons">
                      <a href={listed("FAILED")}>failed</a>
                      <a href={listed("RETRY")}>retrying</a>
                      <a href={listed("CREATED")}>waiting</a>
                      <a href={listed("")}>all</a>
                    </span>,
                  ],
                  [
                    "Dead letters",
                    <Filtered to="/dead-letters" by="queueName" text={name}>
                      of this queue
                    </Filtered>,
                  ],
                ]}
              />
            </Inside>
          </Panel>
        </>
      )}
    </Page>
  );
}
