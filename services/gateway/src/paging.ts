/** Pages of lists: positions leave the house signed, bound to tenant, list and filter. */
import { type Fault, isFault, type PageRequest, type TenantId } from "@posthaste/domain";
import { type PageQuery } from "@posthaste/contract";
import { type Cursors } from "@posthaste/runtime";

type ListScope = {
  readonly tenant: TenantId;
  readonly list: string;
  readonly filter: object;
};

export type Paging = {
  open(scope: ListScope, page: PageQuery): PageRequest | Fault;
  /** Undefined at the end. */
  seal(scope: ListScope, position: string | undefined): string | undefined;
};

export function createPaging(cursors: Cursors): Paging {
  return {
    open: (scope, { cursor, limit, order }) => {
      if (cursor === undefined) return { limit, order };
      const after = cursors.open(cursorScope(scope), cursor);
      return isFault(after) ? after : { limit, order, after };
    },
    seal: (scope, position) =>
      position === undefined ? undefined : cursors.seal(cursorScope(scope), position),
  };
}

const cursorScope = ({ tenant, list, filter }: ListScope) => ({
  tenant,
  filter: `${list}:${JSON.stringify(filter)}`,
});
