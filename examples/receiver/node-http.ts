/** Receives orders over node:http. */
import { createServer } from "node:http";
import { nodeHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

createServer(nodeHandler(ordersReceiver(printingShop()))).listen(process.env["PORT"] ?? 3000);
