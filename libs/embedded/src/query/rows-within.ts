/** Rows that are read together. */
import { type Row, text } from "../database/rows.ts";

/** The first of `rows`, up to the one by which their `json` has `bytesMax` bytes: no further row is read. */
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
