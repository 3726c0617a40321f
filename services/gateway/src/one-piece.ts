/** An answer of one piece, read and made when there is room for it among the long answers of the process. */
export async function* onePiece(
  make: () => Promise<object>,
): AsyncGenerator<string, void, undefined> {
  yield JSON.stringify(await make());
}
