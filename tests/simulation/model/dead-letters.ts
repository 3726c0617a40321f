/** Dead letters in memory. */
import {
  among,
  type DeadLetter,
  type DeadLetterFilter,
  type DlqId,
  matchesMessage,
} from "@posthaste/domain";
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
        (letter) => letter.message.tenant === tenant && matches(filter, letter),
      );
      const { items, ...next } = pageOf(found, ({ id }) => id, page);
      return { items: items.map((letter) => cut(letter, page.bodyBytesMax)), ...next };
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

/** One byte more than is shown, unless it is all or nothing. */
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

/** A letter without an answer has status 0. */
const matches = (filter: DeadLetterFilter, { id, failedAt, message, response }: DeadLetter) =>
  among(filter.ids, id) &&
  among(filter.responseStatuses, response?.status ?? 0) &&
  failedAt >= (filter.from ?? 0) &&
  failedAt <= (filter.to ?? Infinity) &&
  matchesMessage(filter, message);
