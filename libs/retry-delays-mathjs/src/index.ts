export { retryDelays } from "./retry-delays.ts";
