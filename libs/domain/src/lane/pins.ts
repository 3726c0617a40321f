/**
 * Pins mark the parts of a key's limits that were set by hand: publishes leave them as they are (docs/design/lanes#by-hand).
 */
import { type FlowLimits } from "./flow-control.ts";

/** A pinned rate pins its period, too. */
export type Pins = { readonly parallelism: boolean; readonly rate: boolean };
export const noPins: Pins = { parallelism: false, rate: false };

/** Limits that a caller sets by hand. A rate without a period keeps the period of the key. */
export type Pinned = {
  readonly parallelism?: number;
  readonly rate?: { readonly rate: number; readonly periodMs?: number };
};

export type Limited = { readonly limits: FlowLimits; readonly pins: Pins };

export const limitsPublished = ({ limits, pins }: Limited, brought: FlowLimits): FlowLimits => ({
  ...parallelismOf(pins.parallelism ? limits : brought),
  ...rateOf(pins.rate ? limits : brought),
});

/** Sets and pins the given parts; the other parts stay as they are. */
export const pin = ({ limits, pins }: Limited, { parallelism, rate }: Pinned): Limited => ({
  limits: { ...limits, ...(parallelism !== undefined && { parallelism }), ...rate },
  pins: {
    parallelism: pins.parallelism || parallelism !== undefined,
    rate: pins.rate || rate !== undefined,
  },
});

/** Unpins `parts`, which keep their value until the next publish sets them. */
export const unpin = ({ limits, pins }: Limited, parts: Pins): Limited => ({
  limits,
  pins: {
    parallelism: pins.parallelism && !parts.parallelism,
    rate: pins.rate && !parts.rate,
  },
});

export const isPinned = ({ parallelism, rate }: Pins): boolean => parallelism || rate;

const parallelismOf = ({ parallelism }: FlowLimits) => parallelism !== undefined && { parallelism };
const rateOf = ({ rate, periodMs }: FlowLimits) => ({
  periodMs,
  ...(rate !== undefined && { rate }),
});
