/** The steps of a run, each with its time on one scale. Of many thousands those in view are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { durationOf, shown, utcOf } from "../../api/text.ts";
import { State } from "../../parts/text.tsx";
import { type StepRow, type Waterfall } from "../../rules/waterfall.ts";
import { stepStates } from "../states.tsx";

const rowHeight = 28;
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
    estimateSize: () => rowHeight,
    overscan: rowsBeyondView,
  });
  const at = rows.findIndex(({ key }) => key === chosen);
  // Keys may come faster than the address follows.
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
  return (
    <section aria-label="Steps">
      <p className="muted">
        {rows.length} {rows.length === 1 ? "step" : "steps"} in {durationOf(to - from)}. Choose one
        to see what it returned.
      </p>
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
                  className="step"
                  style={{ transform: `translateY(${start}px)` }}
                  onClick={() => choose(row.key)}
                >
                  <StepCells row={row} from={from} to={to} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </section>
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

type CellsProps = { readonly row: StepRow; readonly from: number; readonly to: number };

function StepCells({ row, from, to }: CellsProps) {
  const [tone, words] = stepStates[row.state];
  const span = Math.max(to - from, 1);
  const percent = (ms: number): string => `${((100 * ms) / span).toFixed(3)}%`;
  return (
    <>
      <span className={row.isMember ? "name member" : "name"} title={shown(row.name)}>
        {shown(row.name)}
      </span>
      <span className="muted">{shown(row.kind, 12)}</span>
      <State tone={tone}>{words}</State>
      <span className="number">{durationOf(row.to - row.from)}</span>
      <span className="track" title={`${utcOf(row.from)} – ${utcOf(row.to)}`}>
        <span
          className={`bar ${tone}`}
          style={{ left: percent(row.from - from), width: percent(row.to - row.from) }}
        />
      </span>
    </>
  );
}
