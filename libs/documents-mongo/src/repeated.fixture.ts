/** A network that loses the reply to every call once, so that each is made again with the same arguments. */
import { type Connection } from "./connection.ts";

export const repeated = (connection: Connection): Connection => ({
  ...connection,
  again: (task) =>
    connection.again(async () => {
      await task();
      return task();
    }),
});
