import { localOf } from "../api/text.ts";
import { type Bar, type Range, type Rates } from "../rules/rates.ts";

const dayMs = 86_400_000;
const width = 10;
const gap = 2;
const height = 100;

type Props = { readonly rates: Rates; readonly range: Range };

export function Chart({ rates: { bars, most, sums }, range }: Props) {
  const says = `Attempts in ${range.words}: ${sums.DELIVERED} delivered, ${sums.ERROR} failed; at most ${most} per bar`;
  // Times of a week show the day.
  const textOf = (bar: Bar | undefined): string => {
    if (bar === undefined) return "";
    return range.ms > dayMs
      ? localOf(bar.time, 0).slice(5, -3)
      : localOf(bar.time, bar.time).slice(0, -3);
  };
  const middle = bars[Math.floor(bars.length / 2)];
  return (
    <figure>
      <svg
        className="chart"
        role="img"
        aria-label={says}
        viewBox={`0 0 ${bars.length * width} ${height}`}
        preserveAspectRatio="none"
      >
        {bars.map((bar, nth) => {
          const ofDelivered = (height * bar.delivered) / most;
          const ofFailed = (height * bar.failed) / most;
          const x = nth * width;
          return (
            <g key={bar.time}>
              <title>{`${textOf(bar)}: ${bar.delivered} delivered, ${bar.failed} failed`}</title>
              <rect className="ground" x={x} y={0} width={width} height={height} />
              <rect
                className="good"
                x={x}
                y={height - ofDelivered}
                width={width - gap}
                height={ofDelivered}
              />
              <rect
                className="bad"
                x={x}
                y={height - ofDelivered - ofFailed}
                width={width - gap}
                height={ofFailed}
              />
            </g>
          );
        })}
      </svg>
      <p className="scale muted" aria-hidden="true">
        <span>{textOf(bars[0])}</span>
        <span>{textOf(middle)}</span>
        <span>{textOf(bars.at(-1))}</span>
      </p>
      <figcaption className="legend">
        <span>
          <span className="swatch" />
          attempts delivered
        </span>
        <span>
          <span className="swatch bad" />
          attempts failed
        </span>
        <span>at most {most} per bar</span>
      </figcaption>
    </figure>
  );
}
