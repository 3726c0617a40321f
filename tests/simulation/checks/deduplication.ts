/** C12: one id per deduplication key and window, answered and made. */
import { limits, type MessageId, parentOf } from "@posthaste/domain";
import { type History, type Publication } from "../world/history.ts";

/** C12: inside one window all publishes of a key are answered with one id. */
export function checkDeduplication(history: History): void {
  const scoped = Map.groupBy(history.publications, ({ deduplicationScope }) => deduplicationScope);
  for (const [scope, publications] of scoped) {
    if (scope === undefined) continue;
    checkLives(history, publications);
    checkTakenOver(history, publications);
    const acks = publications
      .flatMap((publication) => publication.acks)
      .toSorted((a, b) => a.at - b.at);
    for (const [i, ack] of acks.entries()) {
      for (const later of acks.slice(i + 1)) {
        if (later.at > ack.at + limits.deduplicationMs - 1_000) break;
        const other = later.answers.find(({ id, url }) =>
          ack.answers.some(
            (answer) => answer.url === url && answer.id !== id && parentOf(id) === undefined,
          ),
        );
        if (!other) continue;
        const [first] = ack.answers;
        if (ack.answers.some(({ id }) => isCancelled(history, id, later.at))) continue;
        const forgotten = history.explains([], ack.startedAt - 60_000, later.at, ["flush"]);
        // A confirmation that came after its claim had run out leaves no window.
        const late = history.explains(
          [ack.gateway, later.gateway],
          ack.startedAt - 60_000,
          later.at,
          ["slow", "pause", "failed", "crash", "clock"],
        );
        if (!forgotten && !late)
          history.violate(
            "C12",
            `${scope}: ${first?.id ?? ""} and ${other.id} were accepted within one window`,
          );
      }
    }
  }
}

/**
 * C12: a publish that began after a message was cancelled is given the key of that message, if nothing kept the key
 * from being confirmed.
 */
function checkTakenOver(history: History, publications: readonly Publication[]): void {
  const acks = publications.flatMap((publication) => publication.acks);
  for (const ack of acks)
    for (const { id } of ack.answers) {
      const cancelledAt = history.cancels.get(id)?.at ?? Infinity;
      if (cancelledAt <= ack.at) continue;
      const later = acks.find(
        ({ answers, startedAt }) =>
          startedAt > cancelledAt && answers.some((answer) => answer.id === id),
      );
      if (!later) continue;
      const faults = ["slow", "pause", "failed", "crash", "clock"] as const;
      if (!history.explains([ack.gateway, later.gateway], ack.startedAt - 60_000, later.at, faults))
        history.violate("C12", `${id} was told of at ${later.at}, after its cancel`);
    }
}

/** Reports whether a cancel of the message had begun: the next publish is given its key. */
const isCancelled = (history: History, id: MessageId, at: number): boolean =>
  (history.cancels.get(id)?.at ?? Number.POSITIVE_INFINITY) <= at;

/** A key stays pending for 30 s from its claim, and its insert begins within 20 s. */
const pendingForSureMs = 9_000;

/** C12: while a key is pending or done no second record is made for it, whether or not a caller was told of the first. */
function checkLives(history: History, publications: readonly Publication[]): void {
  const ops = new Set(publications.map(({ op }) => String(op)));
  const made = [...history.lives.values()]
    .flatMap(([first]) => (first ? [first] : []))
    .filter(({ record: { message } }) => {
      const { callbackOf, group } = message.origin;
      return (
        callbackOf === undefined &&
        !group &&
        message.headers.some(([name, value]) => name === "Op" && ops.has(value))
      );
    });
  for (const [i, { at, record }] of made.entries()) {
    const next = made[i + 1];
    if (!next || next.at > at + pendingForSureMs) continue;
    if (isCancelled(history, record.message.id, next.at)) continue;
    if (
      history.explains([next.node], at - 30_000, next.at, ["pause", "slow"]) ||
      history.explains([], at - 30_000, next.at, ["flush"])
    )
      continue;
    history.violate(
      "C12",
      `${record.message.id} and ${next.record.message.id} were made for one deduplication id`,
    );
  }
}
