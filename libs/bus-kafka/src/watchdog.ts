/**
 * Notices a group that stalls although the brokers answer (a bug of a broker or a client). Otherwise the process
 * would live and receive nothing; ending the process and starting it anew is better.
 */
import { type Clock } from "@posthaste/ports";

export type Watched = {
  readonly clock: Clock;
  /** Grows while the group works. */
  readonly progress: () => number;
  /** Reports whether the brokers answer, as far as is known. Called often. */
  readonly isUp: () => boolean;
  /** Reports whether a broker answers now. Called once before the end. */
  readonly answers: () => Promise<boolean>;
  readonly stalled: () => void;
};

export const stalledMs = 60_000;
const lookEveryMs = 5_000;

/**
 * Counts looks, not the time between them, so that a host that slept is not taken for a stalled group. Returns the
 * function that ends the watch.
 */
export function watch({ clock, progress, isUp, answers, stalled }: Watched): () => void {
  let last = progress();
  let idleLooks = 0;
  let cancel = (): void => undefined;
  let stopped = false;

  const look = async (): Promise<void> => {
    const now = progress();
    idleLooks = now === last && isUp() ? idleLooks + 1 : 0;
    last = now;
    if (idleLooks * lookEveryMs >= stalledMs) {
      idleLooks = 0;
      if ((await answers()) && progress() === last && !stopped) return stalled();
    }
    arm();
  };
  const arm = (): void => {
    if (!stopped) cancel = clock.after(lookEveryMs, () => void look());
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}
