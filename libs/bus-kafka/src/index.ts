export { type KafkaBus, type KafkaBusOptions, openKafkaBus } from "./bus.ts";
export { type Sasl } from "./security/sasl.ts";
export { renderKafka } from "./document.ts";
export { type Trace } from "./trace.ts";
