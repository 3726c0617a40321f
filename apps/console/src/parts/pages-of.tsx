import { useSearch } from "../address.ts";

/** Returns the page of a list that the server answers whole: the cursor is an index into it. */
export function useSlice<T>(all: readonly T[] | undefined, rowsMax: number) {
  const [search] = useSearch();
  const from = Number(search.get("cursor") ?? 0) || 0;
  const to = from + rowsMax;
  const hasMore = all !== undefined && all.length > to;
  return { rows: all?.slice(from, to), cursor: hasMore ? String(to) : undefined };
}

export function PagesOf({ cursor }: { readonly cursor: string | undefined }) {
  const [search, setSearch] = useSearch();
  const isLater = search.has("cursor");
  const hasMore = cursor !== undefined && cursor !== "";
  if (!isLater && !hasMore) return null;
  const without = [...search].filter(([name]) => name !== "cursor");
  return (
    <nav className="pages-of" aria-label="Pages of the list">
      {isLater && (
        <button type="button" onClick={() => setSearch(without)}>
          First page
        </button>
      )}
      {hasMore && (
        <button type="button" onClick={() => setSearch([...without, ["cursor", cursor]])}>
          Next page
        </button>
      )}
      {isLater && <span className="muted">Only the first page is updated.</span>}
    </nav>
  );
}
