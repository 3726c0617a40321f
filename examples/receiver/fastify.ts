/** Orders over Fastify, whose parsers leave the body alone: what was parsed cannot be verified. */
import { fastifyHandler } from "@posthaste/client/receiver";
import Fastify from "fastify";
import { ordersReceiver, printingShop } from "./orders.ts";

const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", (_request, _payload, done) => done(null));
app.post("/orders", fastifyHandler(ordersReceiver(printingShop())));
await app.listen({ port: Number(process.env["PORT"] ?? 3000) });
