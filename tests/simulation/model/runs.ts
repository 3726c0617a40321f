/** The RunStore as a map: a change is one step, with the records that it makes. */
import {
  answerOfFact,
  type AttemptFact,
  attemptReplacedBy,
  awaitedEvents,
  byTime,
  entriesBetween,
  type HistoryEntry,
  isActive,
  isOfLog,
  isKnownFormat,
  limits,
  matchesFailedRun,
  matchesRun,
  type MessageId,
  partOf,
  type Run,
  type RunAttempt,
  type RunIn,
  type RunKey,
  runMessageId,
  type RunPart,
  type RunRef,
  wakeAtOf,
  wantedOf,
} from "@posthaste/domain";
import {
  type Page,
  type Records,
  type RunAddress,
  type RunLog,
  type RunPage,
  type RunStore,
  type RunWrite,
  requireKnownFormat,
} from "@posthaste/ports";
import { armedRows, type ArmedRows } from "./armed-rows.ts";
import { within } from "./page.ts";

export type ModelRuns = ArmedRows<RunRef> & { readonly port: RunStore; readonly log: RunLog };

export function modelRuns(now: () => number, records: Pick<Records, "insert">): ModelRuns {
  const alarms = new Map<RunKey, number>();
  const heads = new Map<RunKey, Run>();
  const parts = new Map<RunKey, Map<string, RunPart>>();
  const attempts = new Map<MessageId, Map<string, RunAttempt>>();

  const find = (address: RunAddress | RunRef): Run | undefined => {
    const found = headAt(address);
    return found && requireKnownFormat(found);
  };
  const headAt = (address: RunAddress | RunRef): Run | undefined => {
    if ("key" in address) {
      const run = heads.get(address.key);
      return run?.root === address.root ? run : undefined;
    }
    const { tenant, id, createdAt } = address;
    return [...heads.values()]
      .filter((run) => run.tenant === tenant && run.id === id)
      .filter((run) => createdAt === undefined || run.createdAt === createdAt)
      .toSorted((a, b) => b.generation - a.generation)[0];
  };
  const armed = armedRows(
    now,
    () => heads.values().map((run) => ({ ...run, wakeAt: alarms.get(run.key) })),
    ({ key }, at) => void alarms.set(key, at),
  );
  const put = async ({ run, parts: written, deliveries }: RunWrite): Promise<void> => {
    const own = parts.get(run.key) ?? new Map<string, RunPart>();
    const taken = written.find(({ name }) => own.has(name));
    if (taken) throw new Error(`${run.key} has a part ${taken.name}`);
    heads.set(run.key, run);
    const at = wakeAtOf(run);
    if (at === undefined) alarms.delete(run.key);
    else alarms.set(run.key, at);
    for (const part of written) own.set(part.name, part);
    parts.set(run.key, own);
    if (deliveries.length > 0)
      await records.insert(
        deliveries.map((record) => ({ record })),
        "accepted",
      );
  };
  const between = ({ history, key, root }: Run, from: number, to: number): HistoryEntry[] =>
    entriesBetween(history, from, to).map((entry) => {
      const name = partOf(entry);
      const body = parts.get(key)?.get(name)?.body;
      if (!body) throw new Error(`the part ${name} is not there`);
      return { messageId: runMessageId(root, name), body };
    });

  const byRoot = (root: MessageId): Run | undefined => {
    const found = [...heads.values()].find((run) => run.root === root);
    return found && requireKnownFormat(found);
  };

  const port: RunStore = {
    start: async (tenant, id, _intake, make) => {
      const before = find({ tenant, id });
      if (before && isActive(before)) return { kind: "known", run: before };
      const { generation = 0, createdAt = 0 } = before ?? {};
      const write = make({
        generation: generation + 1,
        after: createdAt,
        ...(before && { before }),
      });
      const known = byRoot(write.run.root);
      if (known) return { kind: "known", run: known };
      await put(write);
      return { kind: "started", run: write.run };
    },
    resume: async (tenant, id, { names, of }, make) => {
      const entries = entriesBetween(of.history, 0, of.history.length - 1).map(partOf);
      const others = parts.get(of.key);
      const inherited = [...entries, ...names].map((name) => others?.get(name));
      const there = inherited.filter((part) => part !== undefined);
      if (there.length < inherited.length) return "gone";
      const told = [...(others?.values() ?? [])].filter(({ name }) => isOfLog(of, name));
      return port.start(tenant, id, "accepted", (use) => {
        const write = make(use);
        return { ...write, parts: [...there, ...told, ...write.parts] };
      });
    },
    change: async (address, decide) => {
      const run = find(address);
      if (!run) return undefined;
      const { verdict, write } = decide(run);
      if (write) await put(write);
      return verdict;
    },
    get: async (address) => find(address),
    byAlias: async (tenant, id) =>
      [...heads.values()]
        .filter((run) => run.tenant === tenant && run.aliases?.includes(id))
        .toSorted(
          (a, b) => Number(isActive(b)) - Number(isActive(a)) || b.createdAt - a.createdAt,
        )[0],
    byRoot: async (root) => byRoot(root),
    waiting: async (tenant, event, after, limit) =>
      [...heads.values()]
        .filter((run) => run.tenant === tenant && awaitedEvents(run).includes(event))
        .filter(({ key }) => key > (after?.key ?? ""))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit)
        .map(({ key, root }) => ({ key, root })),
    part: async (run, name) => (find(run) ? parts.get(run.key)?.get(name) : undefined),
    history: async (run, from) =>
      fitting(between(run, from, run.history.length - 1), ({ body }) => body),
    brief: async (deliveries) =>
      deliveries.map(({ run: inRun, epoch, from }) => {
        const run = find(inRun);
        const wanted = wantedOf(run, inRun, epoch);
        if (typeof wanted === "string") return wanted;
        return run ? { ...wanted, entries: between(run, from, wanted.rank) } : "unwanted";
      }),
    sweep: async (tenant, endedBefore, limit) => {
      const ended = [...heads.values()]
        .filter(
          (run) =>
            run.tenant === tenant &&
            run.state.kind !== "active" &&
            run.state.endedAt < endedBefore &&
            isKnownFormat(run),
        )
        .slice(0, limit);
      for (const { key, root } of ended) {
        heads.delete(key);
        parts.delete(key);
        attempts.delete(root);
      }
      return ended.length;
    },
  };
  const log: RunLog = {
    list: async (tenant, filter, page) => {
      const wanted = [...heads.values()].filter(
        (run) => run.tenant === tenant && isKnownFormat(run) && matchesRun(filter, run),
      );
      return pageOf(wanted, ({ createdAt }) => createdAt, page);
    },
    failed: async (tenant, filter, page) => {
      const wanted = [...heads.values()]
        .filter(isInDlq)
        .filter(
          (run) => run.tenant === tenant && isKnownFormat(run) && matchesFailedRun(filter, run),
        );
      return pageOf(wanted, ({ state }) => state.endedAt, page);
    },
    attempts: async ({ root }) =>
      [...(attempts.get(root)?.values() ?? [])].toSorted(byTime).slice(-limits.runAttemptsShownMax),
    append: async (told) => {
      for (const { run, fact } of told) {
        const own = attempts.get(run.root) ?? new Map<string, RunAttempt>();
        attempts.set(run.root, own);
        own.set(`${run.part}/${fact.attempt}`, { part: run.part, fact: capped(fact) });
        own.delete(`${run.part}/${attemptReplacedBy(fact.attempt)}`);
      }
    },
    parts: async ({ key }, after = "") => {
      const behind = [...(parts.get(key)?.values() ?? [])]
        .filter(({ name }) => name > after)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const some = fitting(behind, ({ body }) => body);
      const last = some.at(-1);
      return { parts: some, ...(some.length < behind.length && last && { next: last.name }) };
    },
  };
  return {
    port,
    log,
    ring: (...given) => armed.ring(...given).map(({ key, root }) => ({ key, root })),
    next: armed.next,
    reopen: () => armed.reopen((run) => (wakeAtOf(run) ?? Infinity) <= now()),
  };
}

/** Returns the first items, up to the one at which they reach the bytes of one reading. */
function fitting<T>(all: readonly T[], bodyOf: (one: T) => Uint8Array): readonly T[] {
  let bytes = 0;
  const end = all.findIndex((one) => (bytes += bodyOf(one).length) >= limits.runReadBytesMax);
  return end < 0 ? all : all.slice(0, end + 1);
}

const isInDlq = (run: Run): run is RunIn<"failed"> =>
  run.state.kind === "failed" && run.state.failure.inDlq;

const capped = ({ response, ...fact }: AttemptFact): AttemptFact =>
  response ? { ...fact, response: answerOfFact(response) } : fact;

/** Newest first. */
function pageOf<R extends Run>(
  runs: readonly R[],
  timeOf: (run: R) => number,
  { after, bytesMax, limit }: RunPage,
): Page<R> {
  const placeOf = (run: R): string => `${String(timeOf(run)).padStart(16, "0")}:${run.root}`;
  const behind = runs
    .filter((run) => after === undefined || placeOf(run) < after)
    .toSorted((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1));
  const items = within(behind.slice(0, limit), bytesMax);
  const positions = items.map(placeOf);
  const next = behind.length > items.length ? positions.at(-1) : undefined;
  return { items, positions, ...(next !== undefined && { next }) };
}
