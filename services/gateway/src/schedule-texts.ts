/** Schedules of a tenant: one page, or all of them as JSON text in pieces. No more than a piece and some bodies are in memory. */
import { scheduleJson } from "@posthaste/contract";
import {
  limits,
  type Schedule,
  type Sha256Hex,
  type TenantId,
  type WholeSchedule,
} from "@posthaste/domain";
import { type SchedulePlace } from "@posthaste/ports";
import { type FittedPage, fitPage } from "./fit-page.ts";
import { type Reads } from "./reads.ts";

type ScheduleReads = Pick<Reads, "schedules" | "wholeSchedules">;
type ScheduleJson = ReturnType<typeof scheduleJson>;

const pageMax = 1_000;
/** The bodies that a list shows: each up to the first bound, all together up to the second. */
const bodyBytesMax = 64 * 1024;
const bodiesBytesMax = 16 * 1024 * 1024;
const bodiesAtOnceMax = 16;

/** Yields schedules after `after`, oldest first. Each page begins after the schedule read last, so the loop ends with the schedules. */
export async function* schedulePages(
  { schedules }: Pick<Reads, "schedules">,
  tenant: TenantId,
  after?: SchedulePlace,
): AsyncGenerator<readonly Schedule[], void, undefined> {
  let page = await schedules(tenant, { ...(after && { after }), limit: pageMax });
  while (page.length > 0) {
    yield page;
    const last = page.at(-1);
    page = last ? await schedules(tenant, { after: last, limit: pageMax }) : [];
  }
}

/** Yields a bare array. */
export async function* scheduleListTexts(
  reads: Pick<Reads, "wholeSchedules">,
  sha256: Sha256Hex,
  pages: AsyncIterable<readonly Schedule[]>,
): AsyncGenerator<string, void, undefined> {
  const show = showing(reads, sha256);
  let before = "[";
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += bodiesAtOnceMax) {
      const some = await show(page.slice(at, at + bodiesAtOnceMax));
      yield before + some.map((each) => JSON.stringify(each)).join(",");
      before = ",";
    }
  }
  yield before === "[" ? "[]" : "]";
}

export async function schedulePage(
  reads: ScheduleReads,
  sha256: Sha256Hex,
  tenant: TenantId,
  { after, count }: { readonly after: SchedulePlace | undefined; readonly count: number },
): Promise<FittedPage<ScheduleJson>> {
  const from = (place: SchedulePlace | undefined, limit: number) =>
    reads.schedules(tenant, {
      limit,
      bytesMax: limits.pageBytesMax,
      ...(place && { after: place }),
    });
  const items = await from(after, count);
  const last = items.at(-1);
  const hasMore = last && (await from(last, 1)).length > 0;
  const positions = items.map(positionOf);
  const page = { items, positions, ...(hasMore && { next: positionOf(last) }) };
  return fitPage(page, showing(reads, sha256), { atOnce: bodiesAtOnceMax });
}

const positionOf = ({ createdAt, id }: Schedule): string => `${createdAt} ${id}`;

/** Shows schedules with the bodies that fit. */
function showing(
  reads: Pick<Reads, "wholeSchedules">,
  sha256: Sha256Hex,
): (some: readonly Schedule[]) => Promise<readonly ScheduleJson[]> {
  let bytesLeft = bodiesBytesMax;
  return async (some) => {
    const shown = some.filter(({ bodyBytes }) => {
      if (bodyBytes === 0 || bodyBytes > bodyBytesMax || bodyBytes > bytesLeft) return false;
      bytesLeft -= bodyBytes;
      return true;
    });
    const bodies = await bodiesOf(reads, shown);
    return some.map((each) => scheduleJson(each, bodies.get(each.id), { sha256 }));
  };
}

async function bodiesOf(
  { wholeSchedules }: Pick<Reads, "wholeSchedules">,
  shown: readonly Schedule[],
): Promise<ReadonlyMap<Schedule["id"], Uint8Array>> {
  const whole = shown.length > 0 ? await wholeSchedules(shown) : [];
  return new Map(
    whole.flatMap((each: WholeSchedule | undefined) => (each ? [[each.id, each.body]] : [])),
  );
}
