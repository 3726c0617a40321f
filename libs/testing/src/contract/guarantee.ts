/**
 * How a contract suite is written: each test is a guarantee of the port, proved on a fresh adapter. A suite is a function of
 * `it`, and so reads as the tests of one adapter. An adapter that cannot give a guarantee names it with the reason; the
 * test is then shown as skipped, with that reason.
 */
import { describe, it } from "@jest/globals";

export type Deviation = { readonly test: string; readonly reason: string };

export type ContractOptions = {
  readonly deviations?: readonly Deviation[];
  /** The longest wait that `advance` may be asked for, if an adapter's clock cannot be moved. */
  readonly waitMsMax?: number;
};

/** `waitMs` is by how much the proof moves the clock in total, for adapters with a real clock. */
export type Guarantee<H> = (
  title: string,
  prove: (harness: H) => Promise<void>,
  waitMs?: number,
) => void;

export type Closable = { readonly close: () => Promise<void> };

export function contract<H extends Closable>(
  name: string,
  open: () => Promise<H>,
  { deviations = [], waitMsMax = Number.POSITIVE_INFINITY }: ContractOptions,
  guarantees: (guarantee: Guarantee<H>) => void,
): void {
  const titles = new Set<string>();
  const guarantee: Guarantee<H> = (title, prove, waitMs = 0) => {
    if (titles.has(title)) throw new Error(`two guarantees are called ${title}`);
    titles.add(title);
    const deviation = deviations.find(({ test }) => test === title);
    if (deviation) return it.skip(`${title} (deviates: ${deviation.reason})`, () => undefined);
    if (waitMs > waitMsMax)
      return it.skip(`${title} (its clock would have to move by ${waitMs} ms)`, () => undefined);
    // Proofs that wait for a real clock run at the same time.
    const test = waitMs > 0 && Number.isFinite(waitMsMax) ? it.concurrent : it;
    return test(title, () => proveOn(open, prove), timeoutOf(Math.min(waitMs, waitMsMax)));
  };

  describe(name, () => {
    guarantees(guarantee);
    const unknown = deviations.filter(({ test }) => !titles.has(test)).map(({ test }) => test);
    if (unknown.length > 0) throw new Error(`no guarantee is called ${unknown.join(", nor ")}`);
  });
}

async function proveOn<H extends Closable>(
  open: () => Promise<H>,
  prove: (harness: H) => Promise<void>,
): Promise<void> {
  const harness = await open();
  try {
    await prove(harness);
  } finally {
    await harness.close();
  }
}

const timeoutMsMin = 60_000;
const timeoutMsMax = 3_600_000;
const timeoutOf = (waitMs: number): number => Math.min(timeoutMsMin + waitMs, timeoutMsMax);
