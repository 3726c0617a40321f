/** `/v2/keys`: the tenant's signing keys (protocol/qstash.md §1.10). */
import { keysJson } from "@posthaste/contract";
import { reply, type RoutedPath } from "@posthaste/runtime";
import { admitted, type Door } from "../door.ts";

export const keyRoutes = (door: Door): readonly RoutedPath[] => [
  {
    path: "/v2/keys",
    methods: { GET: admitted(door, "read", async ({ tenant }) => reply(keysJson(tenant.keys))) },
  },
];
