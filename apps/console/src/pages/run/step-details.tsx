/** One step: its result, loaded when shown, and each failed attempt. */
import { type AttemptError, type Run, type RunStep } from "@posthaste/client/api";
import { useState } from "react";
import { useAsked } from "../../api/asked.ts";
import { durationOf, shown } from "../../api/text.ts";
import { Body, type BodyText, ofText } from "../../parts/body.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Facts, HeaderList } from "../../parts/facts.tsx";
import { RunId, State, Time, timeOf } from "../../parts/text.tsx";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { type StepRow, waterfallOf } from "../../rules/waterfall.ts";
import { stepStates } from "../states.tsx";

const trimmedBytesMax = 16_384;
/** The most that a page of the log shows. */
const wholeBytesMax = 8 * 1024 * 1024;

type Props = { readonly run: Run; readonly row: StepRow; readonly close: () => void };

export function StepDetails({ run, row, close }: Props) {
  const [bytesMax, setBytesMax] = useState(trimmedBytesMax);
  const query = {
    workflowRuns: `${run.workflowRunId}@${run.workflowRunCreatedAt}`,
    count: 1,
    trimBody: bytesMax,
  };
  const { data } = useAsked({ id: "listRunLogs", query }, { fresh: "once" });
  const whole = data?.runs[0];
  const step = whole && waterfallOf(whole, 0).rows.find(({ key }) => key === row.key)?.step;
  const textOf = (text: string | undefined): BodyText | undefined =>
    ofText(text, undefined, bytesMax);
  const more = (): void => setBytesMax(wholeBytesMax);
  const [tone, words] = stepStates[row.state];
  return (
    <section aria-label={`Step ${shown(row.name)}`} className="panel step-details">
      <div className="heading">
        <h2>{shown(row.name)}</h2>
        <button type="button" className="quiet small" onClick={close}>
          Close
        </button>
      </div>
      <Facts facts={[["State", <State tone={tone}>{words}</State>], ...factsOf(row)]} />
      <Failures errors={(step ?? row.step).errors ?? []} />
      {step?.callUrl !== undefined && <Called step={step} textOf={textOf} more={more} />}
      <Body
        title={row.kind === "start" ? "Payload" : "Returned"}
        body={textOf(step?.out)}
        more={more}
        none={data === undefined ? "" : "nothing"}
      />
    </section>
  );
}

const factsOf = ({ kind, from, to, step }: StepRow) =>
  [
    ["Kind", shown(kind)],
    ["Started", <Time at={from} />],
    ["Ended", <Time at={to} />],
    ["Took", durationOf(to - from)],
    ["Next attempt", timeOf(step.nextDeliveryTime)],
    ["Event", shown(step.waitEventId)],
    ["Waits until", timeOf(step.waitTimeoutDeadline)],
    [
      "Invoked run",
      step.invokedWorkflowRunId !== undefined && <RunId id={step.invokedWorkflowRunId} />,
    ],
    [
      "Delivery",
      step.messageId !== undefined && (
        <>
          <code>{shown(step.messageId)}</code>
          <CopyButton text={step.messageId} name="Copy the id of the delivery" />
        </>
      ),
    ],
  ] as const;

type CalledProps = {
  readonly step: RunStep;
  readonly textOf: (text: string | undefined) => BodyText | undefined;
  readonly more: () => void;
};

function Called({ step, textOf, more }: CalledProps) {
  return (
    <>
      <Facts
        facts={[
          [
            "Called",
            <span className="mono">{`${shown(step.callMethod)} ${shown(step.callUrl, 2_000)}`}</span>,
          ],
          ["Status", step.callResponseStatus],
        ]}
      />
      <Body title="Body of the request" body={textOf(step.callBody)} more={more} />
      <Body title="Body of the answer" body={textOf(step.callResponseBody)} more={more} />
    </>
  );
}

function Failures({ errors }: { readonly errors: readonly AttemptError[] }) {
  if (errors.length === 0) return null;
  return (
    <>
      <h3>Failed attempts, newest first</h3>
      <ol className="timeline" reversed>
        {errors.toReversed().map((each, nth) => {
          const { time, status, body, headers } = each;
          return (
            <li key={time} className="bad">
              <span className="line">
                <Time at={time} />
                {status !== 0 && <span>status {status}</span>}
              </span>
              <p className="trouble">{shown(errorWordsOf(each), 2_000)}</p>
              {(body !== undefined || Object.keys(headers).length > 0) && (
                <details open={nth === 0}>
                  <summary>Answer</summary>
                  <Body title="Body of the answer" body={ofText(body, undefined, Infinity)} />
                  <HeaderList headers={headers} />
                </details>
              )}
            </li>
          );
        })}
      </ol>
    </>
  );
}
