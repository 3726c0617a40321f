/** Changes URL groups: reads, decides, and swaps the head under its version; the slower of two changes begins again. */
import {
  type Endpoint,
  fault,
  type Fault,
  type Group,
  isFault,
  type Plan,
  removeEndpoints,
  type TenantId,
  tooManyEndpoints,
  tooManyGroups,
  upsertEndpoints,
} from "@posthaste/domain";
import { type Groups, type Intake } from "@posthaste/ports";
import { unknownGroup } from "./group-publish.ts";

type Selector = { readonly name?: string; readonly url?: string };

/** The swaps lost in a row before the caller is asked to come again. */
const triesMax = 20;

export function addToGroup(
  groups: Groups,
  tenant: TenantId,
  name: string,
  endpoints: readonly Endpoint[],
  plan: Plan,
): Promise<undefined | Fault> {
  return change(groups, tenant, name, "new", async (current) => {
    // Groups made at the same moment may exceed the quota, which is meant to stop millions.
    if (!current && (await groups.count(tenant, plan.groupsMax)) >= plan.groupsMax)
      return tooManyGroups(plan);
    const next = upsertEndpoints(current ?? [], endpoints);
    return next.length <= plan.groupEndpointsMax ? next : tooManyEndpoints(plan);
  });
}

/** Removes endpoints. A group that becomes empty is deleted (docs/design/wire#url-groups). */
export function removeFromGroup(
  groups: Groups,
  tenant: TenantId,
  name: string,
  selectors: readonly Selector[],
): Promise<undefined | Fault> {
  return change(groups, tenant, name, "accepted", async (current) =>
    current ? removeEndpoints(current, selectors) : unknownGroup(name),
  );
}

async function change(
  groups: Groups,
  tenant: TenantId,
  name: string,
  intake: Intake,
  decide: (current: readonly Endpoint[] | undefined) => Promise<readonly Endpoint[] | Fault>,
): Promise<undefined | Fault> {
  for (let tries = 0; tries < triesMax; tries++) {
    const group = await groups.get(tenant, name);
    const next = await decide(group ? await groups.endpoints(tenant, group.chunks) : undefined);
    if (isFault(next)) return next;
    if (next.length === 0) {
      if (!group || (await isRemoved(groups, group))) return undefined;
      continue;
    }
    if (await groups.replace(tenant, name, group?.version, next, intake)) return undefined;
  }
  return fault("overloaded", `topic ${name} is being changed by too many calls at once; try again`);
}

/** Removes the group under its version. Returns false if an endpoint was added meanwhile; the change then begins again. */
async function isRemoved(groups: Groups, { tenant, name, version }: Group): Promise<boolean> {
  await groups.remove(tenant, name, version);
  return (await groups.get(tenant, name)) === undefined;
}
