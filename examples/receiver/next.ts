/** Orders in a Next.js app: this is `app/orders/route.ts`. */
import { fetchHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

export const POST = fetchHandler(ordersReceiver(printingShop()));
