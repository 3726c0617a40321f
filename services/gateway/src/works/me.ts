import { type me, meJson } from "@posthaste/contract";
import { type Works } from "./work.ts";

export const meWorks = (): Works<keyof typeof me> => ({
  readMe: async ({ tenant, scope }) => ({ status: 200, json: meJson(tenant, scope) }),
});
