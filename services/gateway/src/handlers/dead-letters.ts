/** `/v2/dlq`: dead letters, one by one and in lists (docs/design/wire#dead-letters). */
import { deadLetterJson, deadLetterPageJson, type deadLetters } from "@posthaste/contract";
import { dlqId, isFault } from "@posthaste/domain";
import { unknownLetter } from "@posthaste/engine";
import { bulkLetterHandlers, type BulkLetterParts } from "./dead-letters-in-bulk.ts";
import { fitPage } from "../fit-page.ts";
import { failedRunPage } from "./run-logs.ts";
import { type RunLogParts } from "./run-readings.ts";
import { type Handlers } from "./handler.ts";

export type DeadLetterParts = BulkLetterParts & RunLogParts;

export const deadLetterHandlers = (parts: DeadLetterParts): Handlers<keyof typeof deadLetters> => {
  const { deadLetters: letters, paging, reads, sha256 } = parts;
  return {
    listDeadLetters: async ({ tenant, query }) => {
      if ("runs" in query) {
        const read = failedRunPage(parts, tenant.id, query.runs);
        if (isFault(read)) return read;
        return {
          status: 200,
          read: async (permit) => {
            const { cursor, items } = await read(permit);
            return { json: { ...(cursor !== undefined && { cursor }), messages: items } };
          },
        };
      }
      const scope = { tenant: tenant.id, list: "dlq", filter: query.filter };
      const opened = paging.open(scope, query.page);
      if (isFault(opened)) return opened;
      const view = { sha256, bodyBytesMax: query.page.bodyBytesMax };
      return {
        status: 200,
        read: async (permit) => {
          const page = await reads(permit).letters(tenant.id, opened.filter, opened.page);
          const { shown, next } = await fitPage(page, (some) =>
            some.map((letter) => deadLetterJson(letter, view)),
          );
          return { json: deadLetterPageJson(shown, paging.seal(scope, opened, next)) };
        },
      };
    },
    readDeadLetter: async ({ tenant, param }) => {
      const id = dlqId(param("dlqId"));
      return {
        status: 200,
        read: async (permit) => {
          const letter = await reads(permit).letter(tenant.id, id);
          return letter ? { json: deadLetterJson(letter, { sha256 }) } : unknownLetter(id);
        },
      };
    },
    removeDeadLetter: async ({ tenant, param }) => {
      const id = dlqId(param("dlqId"));
      return (await letters.remove(tenant.id, [id])) > 0 ? { status: 200 } : unknownLetter(id);
    },
    ...bulkLetterHandlers(parts),
  };
};
