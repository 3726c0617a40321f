/** Pages of lists. Cursors are signed positions, bound to tenant, list and filter. */
import { type Fault, isFault, type PageRequest, type TenantId } from "@posthaste/domain";
import { type PageQuery } from "@posthaste/contract";
import { type Cursors } from "@posthaste/http";

type ListScope = {
  readonly tenant: TenantId;
  readonly list: string;
  readonly filter: object;
};

type OpenedPage<F> = {
  readonly page: PageRequest;
  /** The filter to list by: the query's filter, limited by the time at which the list begins. */
  readonly filter: F;
  readonly startAt?: number;
};

type Times = { readonly from?: number; readonly to?: number };

export type Paging = {
  open<F extends Times>(
    scope: ListScope & { readonly filter: F },
    page: PageQuery,
  ): OpenedPage<F> | Fault;
  /** Returns undefined at the end of the list. */
  seal(
    scope: ListScope,
    opened: Pick<OpenedPage<object>, "startAt">,
    position: string | undefined,
  ): string | undefined;
};

export function createPaging(cursors: Cursors): Paging {
  return {
    open: (scope, { cursor, startAt, ...page }) => {
      if (cursor === undefined) return begun(scope.filter, page, startAt);
      const sealed = cursors.open(cursorScope(scope), cursor);
      if (isFault(sealed)) return sealed;
      const [, start, after = ""] = /^(?:(\d+)@)?(.*)$/s.exec(sealed) ?? [];
      const next = { ...page, after };
      return begun(scope.filter, next, start === undefined ? undefined : Number(start));
    },
    seal: (scope, { startAt }, position) =>
      position === undefined
        ? undefined
        : cursors.seal(
            cursorScope(scope),
            startAt === undefined ? position : `${startAt}@${position}`,
          ),
  };
}

/**
 * Applies the time at which the caller's list begins. The cursors of later pages carry that time, since they belong to the same
 * list.
 */
function begun<F extends Times>(
  filter: F,
  page: PageRequest,
  startAt: number | undefined,
): OpenedPage<F> {
  if (startAt === undefined) return { page, filter };
  const times =
    page.order === "latestFirst"
      ? { to: Math.min(filter.to ?? startAt, startAt) }
      : { from: Math.max(filter.from ?? startAt, startAt) };
  return { page, filter: { ...filter, ...times }, startAt };
}

const cursorScope = ({ tenant, list, filter }: ListScope) => ({
  tenant,
  filter: `${list}:${JSON.stringify(filter)}`,
});
