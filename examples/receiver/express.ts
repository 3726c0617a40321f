/** Receives orders over express, before any body parser: a parsed body cannot be verified. */
import { expressHandler } from "@posthaste/client/receiver";
import express from "express";
import { ordersReceiver, printingShop } from "./orders.ts";

express()
  .post("/orders", expressHandler(ordersReceiver(printingShop())))
  .use(express.json())
  .listen(process.env["PORT"] ?? 3000);
