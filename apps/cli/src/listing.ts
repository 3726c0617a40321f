/** Lists: as many as are asked for, however many pages they come in. */
import { CliError } from "./exit.ts";
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
  try {
    for await (const item of items) {
      if (rows.length === limit) break;
      interrupted.throwIfAborted();
      rows.push(item);
    }
  } catch (error) {
    if (!interrupted.aborted) throw error;
    output.rows(rows, columns);
    throw new CliError("interrupted", `interrupted: the list ends after ${rows.length}`);
  }
  output.rows(rows, columns);
}
