/** `/v2/topics`: URL groups (docs/design/wire#url-groups). */
import { parseDefaults, type ReadUrl, type ReadPermit, type urlGroups } from "@posthaste/contract";
import { isFault, type Sha256Hex } from "@posthaste/domain";
import { addToGroup, removeFromGroup, unknownGroup } from "@posthaste/engine";
import { type Clock, type Groups } from "@posthaste/ports";
import { inTurns } from "@posthaste/http";
import { groupListTexts, groupTexts } from "../group-texts.ts";
import { type ContextOf } from "../parse-context.ts";
import { type ReadsIn } from "../reads.ts";
import { type Handlers } from "./handler.ts";

export type UrlGroupParts = {
  readonly groups: Groups;
  readonly reads: ReadsIn;
  readonly clock: Clock;
  readonly contextOf: ContextOf;
  readonly readUrl: ReadUrl;
  readonly sha256: Sha256Hex;
};

export function urlGroupHandlers({ ...ports }: UrlGroupParts): Handlers<keyof typeof urlGroups> {
  const reading = (permit: ReadPermit) => ({ reads: ports.reads(permit), sha256: ports.sha256 });
  return {
    upsertEndpoints: async ({ tenant, param, body }) => {
      const { id, plan } = tenant;
      const endpoints = await inTurns(body({ plan, readUrl: ports.readUrl }));
      if (isFault(endpoints)) return endpoints;
      const refused = await addToGroup(ports.groups, id, param("urlGroupName"), endpoints, plan);
      return refused ?? { status: 200 };
    },
    removeEndpoints: async ({ tenant, param, body }) => {
      const selectors = await inTurns(body);
      if (isFault(selectors)) return selectors;
      const name = param("urlGroupName");
      return (await removeFromGroup(ports.groups, tenant.id, name, selectors)) ?? { status: 200 };
    },
    listGroups: async ({ tenant }) => ({
      status: 200,
      read: async (permit) => ({
        pieces: groupListTexts(reading(permit), ports.clock, tenant.id),
      }),
    }),
    readGroup: async ({ tenant, param }) => {
      const name = param("urlGroupName");
      const group = await ports.groups.get(tenant.id, name);
      if (!group) return unknownGroup(name);
      const read = async (permit: ReadPermit) => ({ pieces: groupTexts(reading(permit), group) });
      return { status: 200, read };
    },
    configureGroup: async ({ tenant, param, body }) => {
      const name = param("urlGroupName");
      const headers = parseDefaults(ports.contextOf(tenant, ""), name, body);
      if (isFault(headers)) return headers;
      return (await ports.groups.configure(tenant.id, name, headers))
        ? { status: 200 }
        : unknownGroup(name);
    },
    removeGroup: async ({ tenant, param }) => {
      await ports.groups.remove(tenant.id, param("urlGroupName"));
      return { status: 200 };
    },
  };
}
