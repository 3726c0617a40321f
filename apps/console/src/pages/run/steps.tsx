/** The steps of a run, each with its time on one scale. Only steps in view are rendered, as there may be many thousands. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { durationOf, shown } from "../../api/text.ts";
import { Panel } from "../../parts/page.tsx";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { type StepRow, ticksOf, type Waterfall } from "../../rules/waterfall.ts";
import { stepStates } from "../states.tsx";

const rowHeight = 30;
const rowWithErrorHeight = 52;
const rowsBeyondView = 8;

type Props = {
  readonly waterfall: Waterfall;
  readonly chosen: string | undefined;
  readonly choose: (key: string) => void;
};

export function Steps({ waterfall: { rows, from, to }, chosen, choose }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => (rows[index]?.lastError ? rowWithErrorHeight : rowHeight),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: rowsBeyondView,
  });
  // A step that has failed meanwhile is taller.
  const high = rows.filter(({ lastError }) => lastError !== undefined).length;
  useEffect(() => virtual.measure(), [virtual, high]);
  const at = rows.findIndex(({ key }) => key === chosen);
  // Keys may come faster than the address changes.
  const place = useRef(at);
  useEffect(() => void (place.current = at), [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = placeAfter(event.key, place.current, rows.length);
    const row = rows[next ?? -1];
    if (next === undefined || row === undefined) return;
    event.preventDefault();
    place.current = next;
    choose(row.key);
    virtual.scrollToIndex(next);
  };
  const scale = scaleOf(from, to);
  return (
    <Panel
      title="Steps"
      aside={`${rows.length} ${rows.length === 1 ? "step" : "steps"} in ${durationOf(to - from)}`}
    >
      <div className="steps-head">
        <span>Step</span>
        <span className="number">Took</span>
        <span className="axis" aria-hidden="true">
          {ticksOf(to - from).map((tick) => (
            <span key={tick} style={{ left: scale(from + tick) }}>
              {tick === 0 ? "0" : durationOf(tick)}
            </span>
          ))}
        </span>
      </div>
      <div
        ref={scroll}
        className="waterfall"
        role="listbox"
        aria-label="Steps in their order"
        tabIndex={0}
        aria-activedescendant={at < 0 ? undefined : `step-${at}`}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <div
                  key={row.key}
                  id={`step-${index}`}
                  role="option"
                  aria-selected={index === at}
                  aria-setsize={rows.length}
                  aria-posinset={index + 1}
                  className={row.lastError ? "step with-error" : "step"}
                  style={{ transform: `translateY(${start}px)` }}
                  onClick={() => choose(row.key)}
                >
                  <StepCells row={row} scale={scale} ticks={ticksOf(to - from)} from={from} />
                </div>
              )
            );
          })}
        </div>
      </div>
      <Legend />
    </Panel>
  );
}

const pageRows = 15;

function placeAfter(key: string, at: number, count: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + pageRows,
    PageUp: at - pageRows,
    Home: 0,
    End: count - 1,
  };
  const next = moves[key];
  return next === undefined ? undefined : Math.min(Math.max(next, 0), count - 1);
}

type Scale = (ms: number) => string;

const scaleOf = (from: number, to: number): Scale => {
  const span = Math.max(to - from, 1);
  return (ms) => `${((100 * (ms - from)) / span).toFixed(3)}%`;
};

type CellsProps = {
  readonly row: StepRow;
  readonly scale: Scale;
  readonly ticks: readonly number[];
  readonly from: number;
};

function StepCells({ row, scale, ticks, from }: CellsProps) {
  const [tone, words] = stepStates[row.state];
  const { lastError } = row;
  return (
    <>
      <span className={row.isMember ? "name member" : "name"} title={shown(row.name)}>
        <span className={`dot ${tone}`} />
        <span>
          {shown(row.name)} <small>{shown(row.kind, 12)}</small>
        </span>
        <span className="hidden">{words}</span>
      </span>
      <span className="number">{durationOf(row.to - row.from)}</span>
      <span className="track">
        <span className="ticks" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ left: scale(from + tick) }} />
          ))}
        </span>
        {row.segments.map(({ kind, from: begin, to: end }, nth) => (
          <span
            key={nth}
            className={`bar ${kind}`}
            style={
              kind === "mark"
                ? { left: scale(begin) }
                : { left: scale(begin), width: scale(from + end - begin) }
            }
          />
        ))}
      </span>
      {lastError !== undefined && (
        <span className="error">
          {row.failures > 1 && `${row.failures} times: `}
          {lastError.status !== 0 && `status ${lastError.status}, `}
          {shown(errorWordsOf(lastError), 300)}
        </span>
      )}
    </>
  );
}

const legend = [
  ["done", "done"],
  ["active", "under way"],
  ["failed", "failed attempts"],
  ["retry", "waits for a retry"],
  ["sleep", "sleeps"],
  ["wait", "waits for an event or a run"],
] as const;

const Legend = () => (
  <p className="legend steps-legend" aria-hidden="true">
    {legend.map(([kind, words]) => (
      <span key={kind}>
        <span className={`bar ${kind}`} />
        {words}
      </span>
    ))}
  </p>
);
