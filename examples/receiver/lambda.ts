/**
 * Receives orders in AWS Lambda behind a function URL or an HTTP API. Instances do not share memory: give the receiver a
 * `seen` of your own.
 */
import { lambdaHandler } from "@posthaste/client/receiver";
import { ordersReceiver, printingShop } from "./orders.ts";

export const handler = lambdaHandler(ordersReceiver(printingShop()));
