/** A network that loses the reply to every call once, so that each call is repeated with the same arguments. */
import { type Connection } from "./connection.ts";
import { type Again } from "./link/retry.ts";

const twice =
  (again: Again): Again =>
  (task) =>
    again(async () => {
      await task();
      return task();
    });

export const repeated = (connection: Connection): Connection => ({
  ...connection,
  again: twice(connection.again),
  heavy: {
    ...connection.heavy,
    again: (tenant) => twice(connection.heavy.again(tenant)),
  },
});

/** Connections for rows of tests: as it is, and `repeated`. */
export const ways = [
  ["", (connection: Connection): Connection => connection],
  [", each reply lost once", repeated],
] as const;
