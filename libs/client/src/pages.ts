/** Reads operations that answer in pages: lists, and bulk operations that take a bounded number a call. */
import { type Operations } from "./api.ts";
import { type AnswerOf, type AnyAsked } from "./operations.ts";

/** The field of a page that holds its elements. */
export const elementsOf = {
  listEvents: "events",
  listDeadLetters: "messages",
  listFailedRuns: "messages",
  listRunLogs: "runs",
  listRunEvents: "events",
  listRunMessages: "events",
  listBulkActions: "bulkActions",
} as const satisfies Partial<Record<keyof Operations, string>>;

export type ListId = keyof typeof elementsOf;

type OfPage<Answer, Key extends string> = Answer extends { readonly [K in Key]: (infer Element)[] }
  ? Element
  : never;
export type ElementOf<Id extends ListId> = OfPage<AnswerOf<Id>, (typeof elementsOf)[Id]>;

/** The operations whose answers may have a cursor. */
export type PagedId = {
  [Id in keyof Operations]: Extract<Operations[Id]["answer"], { cursor?: unknown }> extends never
    ? never
    : Id;
}[keyof Operations];

/** Yields page after page. `call` reads one page. The cursor is sent in the body if the call has one, else in the query. */
export async function* pagesOf<Page>(
  call: (asked: AnyAsked) => Promise<Page>,
  asked: AnyAsked,
): AsyncGenerator<Page, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await call(cursor === undefined ? asked : withCursor(asked, cursor));
    cursor = cursorOf(page);
    yield page;
  } while (cursor !== undefined);
}

const withCursor = (asked: AnyAsked, cursor: string): AnyAsked =>
  typeof asked.body === "object"
    ? { ...asked, body: { ...asked.body, cursor } }
    : { ...asked, query: { ...asked.query, cursor } };

function cursorOf(page: unknown): string | undefined {
  if (typeof page !== "object" || page === null || !("cursor" in page)) return undefined;
  return typeof page.cursor === "string" && page.cursor !== "" ? page.cursor : undefined;
}
