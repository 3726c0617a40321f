/** Schedules of a tenant as JSON text in pieces: of a million no more is in memory than a page, and some bodies. */
import { scheduleJson } from "@posthaste/contract";
import {
  type Schedule,
  type Sha256Hex,
  type TenantId,
  type WholeSchedule,
} from "@posthaste/domain";
import { type SchedulePlace, type Schedules } from "@posthaste/ports";

const pageMax = 1_000;
/** What a list shows of bodies: each up to the first, all together up to the second. */
const bodyBytesMax = 64 * 1024;
const bodiesBytesMax = 16 * 1024 * 1024;
/** So many are read with their bodies at once. */
const bodiesAtOnceMax = 64;

type ListPorts = { readonly schedules: Schedules; readonly sha256: Sha256Hex };

/** Oldest first, from behind `after`. Each page begins behind the schedule that was read last, so this ends where they do. */
export async function* schedulePages(
  { schedules }: Pick<ListPorts, "schedules">,
  tenant: TenantId,
  after?: SchedulePlace,
): AsyncGenerator<readonly Schedule[], void, undefined> {
  let page = await schedules.list(tenant, { ...(after && { after }), limit: pageMax });
  while (page.length > 0) {
    yield page;
    const last = page.at(-1);
    page = last ? await schedules.list(tenant, { after: last, limit: pageMax }) : [];
  }
}

/** A bare array. */
export async function* scheduleListTexts(
  ports: ListPorts,
  pages: AsyncIterable<readonly Schedule[]> | Iterable<readonly Schedule[]>,
): AsyncGenerator<string, void, undefined> {
  let before = "[";
  let bytesLeft = bodiesBytesMax;
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += bodiesAtOnceMax) {
      const some = page.slice(at, at + bodiesAtOnceMax);
      const shown = some.filter(({ bodyBytes }) => {
        if (bodyBytes === 0 || bodyBytes > bodyBytesMax || bodyBytes > bytesLeft) return false;
        bytesLeft -= bodyBytes;
        return true;
      });
      const bodies = await bodiesOf(ports, shown);
      const texts = some.map((each) =>
        JSON.stringify(scheduleJson(each, bodies.get(each.id), ports)),
      );
      yield before + texts.join(",");
      before = ",";
    }
  }
  yield before === "[" ? "[]" : "]";
}

async function bodiesOf(
  { schedules }: ListPorts,
  shown: readonly Schedule[],
): Promise<ReadonlyMap<Schedule["id"], Uint8Array>> {
  const whole = shown.length > 0 ? await schedules.get(shown) : [];
  return new Map(
    whole.flatMap((each: WholeSchedule | undefined) => (each ? [[each.id, each.body]] : [])),
  );
}
