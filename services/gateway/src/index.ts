export { createGateway, type GatewayOptions, type GatewayPorts } from "./gateway.ts";
