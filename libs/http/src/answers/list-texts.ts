/** Yields the text of a JSON array in pieces, so that it is never held whole. */
export async function* listTexts(
  pages: AsyncIterable<readonly object[]>,
): AsyncGenerator<string, void, undefined> {
  let before = "[";
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield before + page.map((item) => JSON.stringify(item)).join(",");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
