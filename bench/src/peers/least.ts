/**
 * The least that keeps the promise: durable before the answer, signed, settled and logged, out of the same parts as
 * Posthaste and of nothing else. It knows no retry, no tenant, no limit, no restart; what Posthaste costs beyond it is
 * what Posthaste does beyond it. `node least.ts <port> <data folder>`
 */
import { serve } from "./accept.ts";
import { keepIn } from "./keep.ts";

const [port, folder = "."] = process.argv.slice(2);
serve(Number(port), keepIn(folder));
