/** Lists: as many as are asked for, however many pages they come in. */
import { type Column } from "./output.ts";
import { type Session } from "./session.ts";

export const limitDefault = 50;

export async function list<T>(
  { host: { interrupted }, output }: Session,
  items: AsyncIterable<T>,
  limit: number,
  columns: readonly Column<T>[],
): Promise<void> {
  const rows: T[] = [];
  for await (const item of items) {
    if (rows.length === limit || interrupted.aborted) break;
    rows.push(item);
  }
  output.rows(rows, columns);
}
