import { type Command } from "commander";
import { CliError } from "./exit.ts";
import { withDefault } from "./option.ts";
import { type Column } from "./output.ts";
import { type Session } from "./session.ts";

const limitDefault = "50";

export const withLimit = (command: Command): Command =>
  withDefault(command, "--limit <count>", {
    ...{ about: "Elements, at most", fallback: limitDefault, example: "200" },
  });

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
