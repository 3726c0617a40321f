export { type Compose, createCompose } from "./calls/compose.ts";
export { Deliverer, type DelivererOptions } from "./deliverer.ts";
export { type DelivererPorts } from "./ports.ts";
export { type FailedAttempt } from "./settling/report.ts";
export { type SlotBounds, slotBounds } from "./permits/slots.ts";
