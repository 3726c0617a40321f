/**
 * The least that keeps the promise: durable before the answer, signed, settled and logged, with Posthaste's parts and nothing
 * else. There is no retry, tenant, limit or restart, so a difference in cost is the price of Posthaste's further features.
 * `node least.ts <port> <data folder>`
 */
import { serve } from "./accept.ts";
import { keepIn } from "./keep.ts";

const [port, folder = "."] = process.argv.slice(2);
serve(Number(port), keepIn(folder));
