/** Receives orders where a handler takes a Request and returns a Response: in Hono here, and likewise in Next.js, Bun and Deno. */
import { serve } from "@hono/node-server";
import { fetchHandler } from "@posthaste/client/receiver";
import { Hono } from "hono";
import { ordersReceiver, printingShop } from "./orders.ts";

const receive = fetchHandler(ordersReceiver(printingShop()));
const app = new Hono().post("/orders", (context) => receive(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000) });
