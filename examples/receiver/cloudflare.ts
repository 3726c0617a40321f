/**
 * Receives orders in a Cloudflare Worker with the flag `nodejs_compat`. Isolates do not share memory: give the receiver a
 * `seen` of your own.
 */
import { fetchHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

// oxlint-disable-next-line no-restricted-exports -- A Worker is found by it.
export default { fetch: fetchHandler(ordersReceiver(printingShop())) };
