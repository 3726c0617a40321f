/** Attempts by minute: a picture, and its figures for those that do not see it. */
import { utcOf } from "../api/text.ts";
import { type Bar, type Rates } from "../rules/rates.ts";

const width = 10;
const gap = 2;
const height = 100;

const timeOf = (bar: Bar | undefined): string => utcOf(bar?.time).slice(11, 16);

export function Bars({ rates: { bars, most, sums } }: { readonly rates: Rates }) {
  const says = `Attempts in the last hour: ${sums.DELIVERED} delivered, ${sums.ERROR} failed; at most ${most} a minute`;
  return (
    <figure className="bars">
      <svg
        className="chart"
        role="img"
        aria-label={says}
        viewBox={`0 0 ${bars.length * width} ${height}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ time, delivered, failed }, nth) => {
          const ofDelivered = (height * delivered) / most;
          const ofFailed = (height * failed) / most;
          const x = nth * width;
          return (
            <g key={time}>
              <title>{`${utcOf(time).slice(0, 16)}: ${delivered} delivered, ${failed} failed`}</title>
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
        <span>{timeOf(bars[0])}</span>
        <span>{timeOf(bars.at(-1))}</span>
      </p>
      <figcaption className="legend">
        <span className="state good">attempts delivered</span>
        <span className="state bad">attempts failed</span>
        <span className="muted">the last hour, by minute; at most {most}</span>
      </figcaption>
    </figure>
  );
}
