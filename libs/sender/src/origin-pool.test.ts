import { describe, it } from "@jest/globals";
import { checkDestination, isFault } from "@posthaste/domain";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { type Dialer } from "./dial.ts";
import { OriginPools } from "./origin-pool.ts";
import { loopbackPolicy } from "./test-kit.ts";

const bounds = {
  ...{ connectionsPerOriginMax: 3, originsMax: 2, idleConnectionsMax: 2, connectionsMax: 6 },
};
const never: Dialer = { dial: () => ({ network: undefined, cancel: () => undefined }) };

function destinationOf(port: number) {
  const checked = checkDestination(`http://127.0.0.1:${port}/`, loopbackPolicy);
  if (isFault(checked)) throw new Error(checked.text);
  return checked;
}

describe("calls to origins", () => {
  it("leave their places and their connections' to as many others, in whatever order they end", async () => {
    const destinations = [1, 2, 3, 4].map((n) => destinationOf(8_000 + n));
    await expectAllGivenBack(() => {
      const pools = new OriginPools(never, bounds);
      const takes = destinations.map((destination) => () => {
        const pool = pools.take(destination);
        if (!pool) return undefined;
        let connection = pool.connection();
        const end = (keepOrDrop: () => void) => () => {
          keepOrDrop();
          pools.giveBack(pool);
        };
        const giveBack = end(() => pool.keep(connection));
        // The call moves to a fresh connection, which fails, too; the first is dropped twice.
        const fail = end(() => {
          pool.drop(connection);
          const first = connection;
          connection = pool.freshConnection();
          pool.drop(connection);
          pool.drop(first);
        });
        return { giveBack, fail };
      });
      return { takes, held: () => pools.connections, endsOnce: true };
    }, 30);
  });
});
