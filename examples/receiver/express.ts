/** Orders over express, before any parser of bodies: what was parsed cannot be verified. */
import { expressHandler } from "@posthaste/client/receiver";
import express from "express";
import { ordersReceiver, printingShop } from "./orders.ts";

express()
  .post("/orders", expressHandler(ordersReceiver(printingShop())))
  .use(express.json())
  .listen(process.env["PORT"] ?? 3000);
