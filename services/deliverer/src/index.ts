export { type Compose, createCompose } from "./compose.ts";
export { Deliverer, type DelivererOptions, type DelivererPorts } from "./deliverer.ts";
export { type FailedAttempt } from "./report.ts";
export { type SlotBounds, slotBounds } from "./slots.ts";
