export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
  type GroupSignIn,
} from "./gateway.ts";
export { createLogWatchers } from "./live-log/watchers.ts";
