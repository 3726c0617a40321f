/** `/v2/bulkActions`: actions begun by a filter, while they are worked and for a week after. */
import { bulkActionJson, type bulkActions, bulkStateOf } from "@posthaste/contract";
import { type BulkAction, bulkActionId, fault, isFault } from "@posthaste/domain";
import { type BulkActionPlace, type BulkActions } from "@posthaste/ports";
import { fitPage } from "../fit-page.ts";
import { type ReadsIn } from "../reads.ts";
import { type Paging } from "../paging.ts";
import { type Handlers } from "./handler.ts";

export type BulkActionParts = {
  readonly bulkActions: Pick<BulkActions, "get">;
  readonly paging: Paging;
  readonly reads: ReadsIn;
};

export const bulkActionHandlers = ({
  bulkActions: actions,
  paging,
  reads,
}: BulkActionParts): Handlers<keyof typeof bulkActions> => ({
  listBulkActions: async ({ tenant, query: { page, state } }) => {
    const filter: { readonly to?: number; readonly state?: string } = { ...(state && { state }) };
    const scope = { tenant: tenant.id, list: "bulk", filter };
    const opened = paging.open(scope, page);
    if (isFault(opened)) return opened;
    const { limit, after } = opened.page;
    const place = after === undefined ? beforeTime(opened.filter.to) : placeFrom(after);
    const isAsked = (action: BulkAction) => state === undefined || bulkStateOf(action) === state;
    return {
      status: 200,
      read: async (permit) => {
        const { bulkActions } = reads(permit);
        const from = (after: BulkActionPlace | undefined, limit: number) =>
          bulkActions(tenant.id, { limit, ...(after && { after }) });
        const items = await from(place, limit);
        const positions = items.map(positionOf);
        const last = items.at(-1);
        const hasMore = last && (await from(last, 1)).length > 0;
        const page = { items, positions, ...(hasMore && { next: positionOf(last) }) };
        const { shown, next } = await fitPage(page, (some) =>
          some.map((action) => (isAsked(action) ? bulkActionJson(action) : undefined)),
        );
        const cursor = paging.seal(scope, opened, next);
        return { json: { ...(cursor !== undefined && { cursor }), bulkActions: shown } };
      },
    };
  },
  readBulkAction: async ({ tenant, param }) => {
    const id = param("actionId");
    const action = await actions.get(tenant.id, bulkActionId(id));
    if (action) return { status: 200, json: bulkActionJson(action) };
    return fault("not_found", `bulk action ${id.slice(0, 128)} not found`);
  },
});

const positionOf = ({ createdAt, id }: BulkAction): string => `${createdAt}/${id}`;

function placeFrom(position: string): BulkActionPlace {
  const slash = position.indexOf("/");
  const id = bulkActionId(position.slice(slash + 1));
  return { createdAt: Number(position.slice(0, slash)), id };
}

/** Returns the place after all actions younger than `to`. */
const beforeTime = (to: number | undefined): BulkActionPlace | undefined =>
  to === undefined ? undefined : { createdAt: to + 1, id: bulkActionId("") };
