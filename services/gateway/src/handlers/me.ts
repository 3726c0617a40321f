import { type me, meJson } from "@posthaste/contract";
import { type Handlers } from "./handler.ts";

export const meHandlers = (): Handlers<keyof typeof me> => ({
  readMe: async ({ tenant, scope }) => ({ status: 200, json: meJson(tenant, scope) }),
});
