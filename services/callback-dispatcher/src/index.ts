export { CallbackDispatcher, type CallbackDispatcherPorts } from "./callback-dispatcher.ts";
