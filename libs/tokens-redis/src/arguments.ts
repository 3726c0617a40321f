/** The arguments that the scripts read by `take`, in their order (scripts.ts). */
import { type FlowLimits, type MessageId, type RateWindow } from "@posthaste/domain";
import { type SlotHolder } from "@posthaste/ports";

type Arguments = readonly string[];

export const countedIds = (ids: readonly MessageId[]): Arguments => [String(ids.length), ...ids];

export const acquireArgs = (
  ids: readonly MessageId[],
  { parallelism, rate, periodMs }: FlowLimits,
): Arguments => [optional(parallelism), optional(rate), String(periodMs), ...countedIds(ids)];

export const restoreArgs = (
  holders: readonly SlotHolder[],
  window: RateWindow | undefined,
  isKnown: boolean,
): Arguments => [
  optional(window?.startedAt),
  optional(window?.count),
  ...countedIds(holders.map(({ id }) => id)),
  ...holders.map(({ leftMs }) => String(leftMs)),
  isKnown ? "1" : "0",
];

const optional = (number: number | undefined): string => (number === undefined ? "" : `${number}`);
