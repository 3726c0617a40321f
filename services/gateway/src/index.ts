export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
  workParts,
} from "./gateway.ts";
export { createLogWatchers } from "./live-log/watchers.ts";
export { takeRoom } from "./room.ts";
export { gatewayWorks } from "./works/index.ts";
