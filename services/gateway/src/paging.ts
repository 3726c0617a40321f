/** Pages of lists: positions leave the house signed, bound to tenant, list and filter. */
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
  /** What the list is asked for: the query's filter, from where its page was to begin. */
  readonly filter: F;
  readonly startAt?: number;
};

type Times = { readonly from?: number; readonly to?: number };

export type Paging = {
  open<F extends Times>(
    scope: ListScope & { readonly filter: F },
    page: PageQuery,
  ): OpenedPage<F> | Fault;
  /** Undefined at the end. */
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

/** The later pages of a list that began at a time of the caller's are of the same list: it goes with their cursors. */
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
