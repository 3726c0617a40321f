export {
  areSameLimits,
  type FlowLimits,
  flowPeriodMsDefault,
  isWindowOver,
  newWindow,
  rateLeft,
  type RateWindow,
} from "./flow-control.ts";
export { type Flow, flowByHand, flowOf, flowsSetBy } from "./flow.ts";
export { openLimits } from "./open-limits.ts";
export {
  type Limited,
  limitsPublished,
  noPins,
  pin,
  type Pinned,
  type Pins,
  unpin,
} from "./pins.ts";
export { isForeign, notBeforeOf, notBeforeOfStep, shardOfMessage } from "./gates.ts";
export { type FlowLane, isForgettable, type LaneKind, type QueueLane } from "./lane.ts";
export { freeTurns, queueParallelismDefault } from "./queue.ts";
export {
  endedSlots,
  type Slot,
  type Slots,
  type SlotTime,
  takeSlots,
  withTokenBack,
} from "./slots.ts";
