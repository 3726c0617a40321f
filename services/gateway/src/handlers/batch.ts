/** `POST /v2/batch`: context all items before it stores one, in turns with other requests. */
import { type batch, type BatchBody, type BatchItem, type BatchContext } from "@posthaste/contract";
import {
  fault,
  type Fault,
  type Headers,
  isFault,
  type PublishCommand,
  type Refused,
} from "@posthaste/domain";
import {
  type AcceptPorts,
  type PublishOutcome,
  type Published,
  publishMany,
  type SpendQuota,
} from "@posthaste/engine";
import { type Admission, inTurns } from "@posthaste/http";
import { type Tenant } from "@posthaste/ports";
import { countAccepted } from "./publish.ts";
import { batchResultTexts } from "../published-texts.ts";
import { inTrace, traceSteps } from "../trace.ts";
import { spendQuota } from "../quota.ts";
import { type PublishParts, type PublishVariant } from "./publish.ts";
import { type Handlers } from "./handler.ts";

export type BatchParts = PublishParts & { readonly admission: Pick<Admission, "refuse"> };

export const batchHandlers = (parts: BatchParts): Handlers<keyof typeof batch> => ({
  publishBatch: async (asked) => {
    const { tenant } = asked;
    // The load is checked here, since only the items say whether they are steps, which are exempt.
    const spend: SpendQuota = (need) => {
      const refused = parts.admission.refuse("publish") ?? parts.backlog.refuse(tenant);
      return refused ? Promise.resolve({ refused }) : spendQuota(parts, tenant, need);
    };
    const outcomes = await publishItems(parts, asked, spend);
    if (isFault(outcomes)) return outcomes;
    return {
      status: 200,
      read: async (permit) => ({ pieces: batchResultTexts(parts.reads(permit), outcomes) }),
    };
  },
});

type Asked = { readonly tenant: Tenant; readonly callerIp: string; readonly body: BatchBody };

/** Publishes the items of a body. A fault, which names the item and its field if there is one, refuses all. */
export async function publishItems(
  parts: BatchParts,
  { tenant, callerIp, body }: Asked,
  spend: SpendQuota,
  variant?: PublishVariant,
): Promise<readonly PublishOutcome[] | Fault> {
  const { contextOf, telemetry } = parts;
  const { metrics, tracer } = telemetry;
  const items = await parseItems(parts.groups, body, {
    ...contextOf(tenant, callerIp),
    ...(variant && { completed: variant.addHeaders }),
  });
  if (isFault(items)) return items;
  const commands: PublishCommand[] = [];
  for (const [index, item] of items.entries()) {
    const command = variant ? variant.commandFrom(item.command) : item.command;
    if (isFault(command)) return faultOf({ refused: command, index });
    commands.push(inTrace(tracer, command));
  }
  const outcomes = await publishMany(parts, commands, spend);
  if (isFault(outcomes)) return outcomes;
  if ("refused" in outcomes) return faultOf(outcomes);
  if (tracer.isOn) {
    const published = outcomes.filter((each): each is Published => "messageId" in each);
    traceSteps(tracer, commands, published, { parent: tracer.current(), begunMsAgo: 0 });
  }
  for (const outcome of outcomes) if (!isFault(outcome)) countAccepted(metrics, outcome);
  return outcomes;
}

const faultOf = ({ refused, index, field }: Refused): Fault =>
  fault(refused.fault, `[${index}]${field ? `.${field}` : ""}: ${refused.text}`);

/** Judges the items once, and once more with the default headers of groups, if there are any. */
async function parseItems(
  groups: AcceptPorts["groups"],
  body: BatchBody,
  context: BatchContext,
): Promise<readonly BatchItem[] | Fault> {
  const inTurn = (each: BatchContext) => inTurns(body.itemsIn(each), weightOf);
  let hasGroups = false;
  const items = await inTurn({
    ...context,
    defaultsOf: () => {
      hasGroups = true;
      return undefined;
    },
  });
  if (!hasGroups) return items;
  const destinations = await inTurns(body.destinations(), weightOf);
  if (isFault(destinations)) return destinations;
  const names = destinations.flatMap(({ destination }) =>
    destination.kind === "group" ? [destination.name] : [],
  );
  const defaults = new Map<string, Headers>();
  for (const name of new Set(names)) {
    const group = await groups.get(context.tenant, name);
    if (group?.headers) defaults.set(name, group.headers);
  }
  if (defaults.size === 0) return items;
  return inTurn({ ...context, defaultsOf: (name) => defaults.get(name) });
}

/** Parsing this many bytes takes as long as judging an item. */
const bytesLikeAnItem = 5_000;
const weightOf = ({ bytes }: { readonly bytes: number }): number => 1 + bytes / bytesLikeAnItem;
