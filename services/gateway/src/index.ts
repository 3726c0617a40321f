export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
} from "./gateway.ts";
export { createLogWatchers } from "./live-log/watchers.ts";
