/**
 * The breaker: whether Redis is called at all. Pure.
 *
 * Up: calls are sent. Down: calls are refused at once, and one new connection at a time is tried, which has to pass
 * its checks before any call may use it.
 */
export type Health = Up | Down;

/** `failures`: how many calls in a row were not answered. `tries`: connections since the last answer. */
export type Up = { readonly kind: "up"; readonly failures: number; readonly tries: number };
export type Down = { readonly kind: "down"; readonly reason: string; readonly tries: number };

const failuresMax = 3;
const pauseMsMin = 50;
const pauseMsMax = 1_000;

export const atStart: Down = { kind: "down", reason: "not connected yet", tries: 0 };
export const closed: Down = { kind: "down", reason: "closed", tries: 0 };

export const connected = ({ tries }: Health): Up => ({ kind: "up", failures: 0, tries });

export const answered = (up: Up): Up =>
  up.failures === 0 && up.tries === 0 ? up : { kind: "up", failures: 0, tries: 0 };

/**
 * `asked`: the health when the call that failed began. Calls that were under way together fail together and count
 * once, so a single pause of the server does not cost the connection.
 */
export function failed(up: Up, asked: Up, reason: string): Health {
  if (asked.failures !== up.failures) return up;
  const failures = up.failures + 1;
  if (failures < failuresMax) return { ...up, failures };
  return lost(up, `${failures} calls in a row failed: ${reason}`);
}

export const lost = ({ tries }: Health, reason: string): Down => ({
  kind: "down",
  reason,
  tries: tries + 1,
});

export const pauseMs = ({ tries }: Down): number =>
  Math.min(pauseMsMax, pauseMsMin * 2 ** (tries - 1));
