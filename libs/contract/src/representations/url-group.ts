import { type Endpoint, type Group } from "@posthaste/domain";
import { type JsonOf, type groupSchema } from "./schemas.ts";

export type GroupJson = JsonOf<typeof groupSchema>;

/** A URL group as it is read, its endpoints in the order in which they were added (protocol/qstash.md §1.7). */
export const groupJson = (group: Group, endpoints: readonly Endpoint[]): GroupJson => ({
  name: group.name,
  createdAt: group.createdAt,
  updatedAt: group.updatedAt,
  endpoints: endpoints.map(({ name, url }) => ({ ...(name !== undefined && { name }), url })),
});
