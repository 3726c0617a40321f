import { useSearch } from "../address.ts";

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
