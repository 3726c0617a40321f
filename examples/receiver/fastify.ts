/** Receives orders over Fastify without its body parsers: a parsed body cannot be verified. */
import { fastifyHandler } from "@posthaste/client/receiver";
import Fastify from "fastify";
import { ordersReceiver, printingShop } from "./orders.ts";

const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", (_request, _payload, done) => done(null));
app.post("/orders", fastifyHandler(ordersReceiver(printingShop())));
await app.listen({ port: Number(process.env["PORT"] ?? 3000) });
