export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
  handlerParts,
} from "./gateway.ts";
export { createLogWatchers } from "./live-log/watchers.ts";
export { spendQuota } from "./quota.ts";
export { gatewayHandlers } from "./handlers/index.ts";
