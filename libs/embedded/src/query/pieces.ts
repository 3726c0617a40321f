/** Reads many keys in pieces, so that others have their turn between two of them. */

/** Bound of one piece. */
const readsPerPiece = 10;

/** Returns a reading of what belongs to each of `keys`, one piece a call. It returns all that was read, or undefined while more is left. */
export function inPieces<Key, Found>(
  keys: readonly Key[],
  read: (key: Key) => Found,
): () => readonly Found[] | undefined {
  const found: Found[] = [];
  return () => {
    for (const key of keys.slice(found.length, found.length + readsPerPiece)) found.push(read(key));
    return found.length < keys.length ? undefined : found;
  };
}
