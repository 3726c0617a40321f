export {
  createGateway,
  gatewayHandler,
  type GatewayOptions,
  type GatewayPorts,
} from "./gateway.ts";
