/** Dead letters in memory. */
import { type DeadLetter, type DlqId, limits, matchesLetter } from "@posthaste/domain";
import { type DeadLetters } from "@posthaste/ports";
import { pageOf } from "./page.ts";

export function modelDeadLetters(): DeadLetters {
  const letters = new Map<DlqId, DeadLetter>();
  const isOf = (tenant: string, id: DlqId): boolean => letters.get(id)?.message.tenant === tenant;

  return {
    insert: async (given) => {
      for (const letter of given) if (!letters.has(letter.id)) letters.set(letter.id, letter);
    },
    list: async (tenant, filter, page) => {
      const found = [...letters.values()].filter(
        (letter) => letter.message.tenant === tenant && matchesLetter(filter, letter),
      );
      const shown = found.map((letter) => cut(letter, page.bodyBytesMax));
      const whole = pageOf(shown, ({ id }) => id, page);
      const limit = heldCount(whole.items);
      return limit === whole.items.length
        ? whole
        : pageOf(shown, ({ id }) => id, { ...page, limit });
    },
    count: async (tenant, max) =>
      Math.min(max, [...letters.keys()].filter((id) => isOf(tenant, id)).length),
    get: async (tenant, id) => (isOf(tenant, id) ? letters.get(id) : undefined),
    remove: async (tenant, ids) =>
      ids.filter((id) => isOf(tenant, id) && letters.delete(id)).length,
    sweep: async (tenant, before, limit) =>
      [...letters.values()]
        .filter(({ failedAt, message }) => message.tenant === tenant && failedAt < before)
        .slice(0, limit)
        .filter(({ id }) => letters.delete(id)).length,
  };
}

/** Returns how many letters one page holds: it ends with the letter that exceeds one reading. */
function heldCount(letters: readonly DeadLetter[]): number {
  let bytes = 0;
  const last = letters.findIndex(({ message, response }) => {
    bytes += message.body.length + (response?.body.length ?? 0);
    return bytes >= limits.readBytesMax;
  });
  return last < 0 ? letters.length : last + 1;
}

/** Cuts bodies one byte later than shown, unless all or nothing is shown. */
function cut(letter: DeadLetter, bodyBytesMax: number | undefined): DeadLetter {
  const { message, response } = letter;
  if (bodyBytesMax === undefined || (bodyBytesMax > 0 && message.policy.redaction?.body))
    return letter;
  const end = bodyBytesMax === 0 ? 0 : bodyBytesMax + 1;
  return {
    ...letter,
    message: { ...message, body: message.body.slice(0, end) },
    ...(response && { response: { ...response, body: response.body.slice(0, end) } }),
  };
}
