/** Orders in a Cloudflare Worker with the flag `nodejs_compat`. What one isolate has seen another has not: give it a `seen` of your own. */
import { fetchHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

// oxlint-disable-next-line no-restricted-exports -- A Worker is found by it.
export default { fetch: fetchHandler(ordersReceiver(printingShop())) };
