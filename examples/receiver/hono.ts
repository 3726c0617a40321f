/** Orders where a handler takes a Request and answers a Response: Hono here; Next.js, Bun and Deno have the same. */
import { serve } from "@hono/node-server";
import { fetchHandler } from "@posthaste/client/receiver";
import { Hono } from "hono";
import { ordersReceiver, printingShop } from "./orders.ts";

const receive = fetchHandler(ordersReceiver(printingShop()));
const app = new Hono().post("/orders", (context) => receive(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000) });
