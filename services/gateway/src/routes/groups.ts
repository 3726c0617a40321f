/** `/v2/topics`: URL groups (interface.md, Upsert a URL group; protocol/qstash.md §1.7). */
import { groupJson, isName, parseRemoveEndpoints, parseUpsertEndpoints } from "@posthaste/contract";
import { fault, type Fault, type Group, isFault, type TenantId } from "@posthaste/domain";
import { addToGroup, removeFromGroup } from "@posthaste/engine";
import { type Groups } from "@posthaste/ports";
import { emptyReply, reply, type RoutedPath } from "@posthaste/runtime";
import { admitted, type Door, type Visit } from "../door.ts";

const endpointBodyBytesMax = 2 * 1024 * 1024;

export function groupRoutes(door: Door, groups: Groups): readonly RoutedPath[] {
  const read = async (tenant: TenantId, group: Group) =>
    groupJson(group, await groups.endpoints(tenant, group.chunks));
  return [
    {
      path: "/v2/topics",
      methods: {
        GET: admitted(door, "list", async ({ tenant }) => {
          const all = await groups.list(tenant.id);
          return reply(await Promise.all(all.map((group) => read(tenant.id, group))));
        }),
      },
    },
    {
      path: "/v2/topics/:name",
      methods: {
        GET: admitted(door, "read", async ({ tenant, param }) => {
          const name = param("name");
          const group = await groups.get(tenant.id, name);
          return group ? reply(await read(tenant.id, group)) : unknown(name);
        }),
        DELETE: admitted(door, "write", async ({ tenant, param }) => {
          await groups.remove(tenant.id, param("name"));
          return emptyReply();
        }),
      },
    },
    {
      path: "/v2/topics/:name/endpoints",
      methods: {
        POST: admitted(door, "write", (visit) => upsert(door, groups, visit)),
        DELETE: admitted(door, "write", (visit) => remove(groups, visit)),
      },
    },
  ];
}

async function upsert(door: Door, groups: Groups, { tenant, param, body }: Visit) {
  const name = param("name");
  if (!isName(name)) return badName;
  const bytes = await body(endpointBodyBytesMax);
  if (isFault(bytes)) return bytes;
  const endpoints = parseUpsertEndpoints(bytes, {
    plan: tenant.plan,
    checkDestination: door.checkDestination,
  });
  if (isFault(endpoints)) return endpoints;
  return (await addToGroup(groups, tenant.id, name, endpoints, tenant.plan)) ?? emptyReply();
}

async function remove(groups: Groups, { tenant, param, body }: Visit) {
  const bytes = await body(endpointBodyBytesMax);
  if (isFault(bytes)) return bytes;
  const selectors = parseRemoveEndpoints(bytes);
  if (isFault(selectors)) return selectors;
  return (await removeFromGroup(groups, tenant.id, param("name"), selectors)) ?? emptyReply();
}

const badName = fault(
  "malformed",
  "urlGroupName: letters, digits, '-', '_' and '.' only, at most 128 characters",
);
const unknown = (name: string): Fault =>
  fault("not_found", `topic ${name.slice(0, 128)} not found`);
