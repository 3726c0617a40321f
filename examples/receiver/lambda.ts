/** Orders in AWS Lambda behind a function URL or an HTTP API. What one instance has seen another has not: give it a `seen` of your own. */
import { lambdaHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

export const handler = lambdaHandler(ordersReceiver(printingShop()));
