/** Reads many keys in pieces, so that other work runs between two of them. */

const readsPerPiece = 10;

/** Returns a reading of the values for `keys`, one piece a call. It returns all values, or undefined while more are left to read. */
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
