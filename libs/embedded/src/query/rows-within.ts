import { type Row, text } from "../database/rows.ts";

/** Returns the first of `rows`, up to the one at which their `json` reaches `bytesMax` bytes. Reads no further row. */
export function rowsWithin(rows: Iterable<Row>, bytesMax: number): readonly Row[] {
  const read: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    read.push(row);
    bytes += text(row["json"]).length;
    if (bytes >= bytesMax) break;
  }
  return read;
}
