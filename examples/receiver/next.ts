/** Receives orders in a Next.js app, as `app/orders/route.ts`. */
import { fetchHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

export const POST = fetchHandler(ordersReceiver(printingShop()));
