/**
 * URL groups as JSON text in pieces. For a list of ten thousand groups, or a group of ten thousand endpoints, at most
 * a few hundred endpoints are in memory.
 */
import { endpointsText, groupClosing, groupOpening } from "@posthaste/contract";
import { type Group, groupChunkMax, type Sha256Hex, type TenantId } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Reads } from "./reads.ts";

type Reading<Ports extends keyof Reads> = {
  readonly reads: Pick<Reads, Ports>;
  readonly sha256: Sha256Hex;
};
type ListReading = Reading<"endpoints" | "groups">;
type Texts = AsyncGenerator<string, void, undefined>;

const headsPerPageMax = 50;
/**
 * The time for which read heads are used. The chunks of a replaced head live for `limits.replacedChunkKeptMs`, so a slow reader
 * gets later heads.
 */
const headsMsMax = 20_000;

/** Yields all groups of a tenant in name order, as a bare array. */
export async function* groupListTexts(reading: ListReading, clock: Clock, tenant: TenantId): Texts {
  let after = "";
  let before = "[";
  // Each page begins after the name written last, so the loop ends with the names.
  for (;;) {
    const readAt = clock.passedMs();
    const [first = [], ...others] = runsOf(
      await reading.reads.groups(tenant, { after, limit: headsPerPageMax }),
    );
    if (first.length === 0) break;
    for (const run of [first, ...others]) {
      if (run !== first && clock.passedMs() - readAt > headsMsMax) break;
      for await (const text of textsOfRun(reading, run)) {
        yield before + text;
        before = "";
      }
      before = ",";
      after = run.at(-1)?.name ?? after;
    }
  }
  yield before === "[" ? "[]" : "]";
}

/** Splits heads into runs that are read together: one group, or several with no more endpoints than a chunk has. */
function runsOf(heads: readonly Group[]): readonly (readonly Group[])[] {
  const runs: Group[][] = [];
  let endpoints = Infinity;
  for (const head of heads) {
    endpoints += head.endpointCount;
    if (endpoints > groupChunkMax) {
      runs.push([]);
      endpoints = head.endpointCount;
    }
    runs.at(-1)?.push(head);
  }
  return runs;
}

async function* textsOfRun(reading: ListReading, run: readonly Group[]): Texts {
  const [only, ...others] = run;
  if (only && others.length === 0) return yield* groupTexts(reading, only);
  const [tenant] = run.map((group) => group.tenant);
  if (tenant === undefined) return;
  const { reads, sha256 } = reading;
  const endpoints = await reads.endpoints(
    tenant,
    run.flatMap(({ chunks }) => chunks),
  );
  let from = 0;
  const texts = run.map((group) => {
    const own = endpoints.slice(from, (from += group.endpointCount));
    return groupOpening(group, sha256) + endpointsText(own) + groupClosing;
  });
  yield texts.join(",");
}

/** Yields one group, chunk by chunk. */
export async function* groupTexts({ reads, sha256 }: Reading<"endpoints">, group: Group): Texts {
  let before = groupOpening(group, sha256);
  for (const chunk of group.chunks) {
    yield before + endpointsText(await reads.endpoints(group.tenant, [chunk]));
    before = ",";
  }
  yield group.chunks.length > 0 ? groupClosing : before + groupClosing;
}
