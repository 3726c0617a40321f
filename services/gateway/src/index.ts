export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
  workParts,
} from "./gateway.ts";
export { createLogWatchers } from "./live-log/watchers.ts";
export { spendQuota } from "./quota.ts";
export { gatewayWorks } from "./works/index.ts";
