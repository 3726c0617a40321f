/** A standalone of its own for each test of a file, with a destination, once `startBeforeEach` has been called at the top. */
import { afterEach, beforeEach } from "@jest/globals";
import { type AloneServer, startAlone } from "./alone.ts";
import { Destination } from "./destination.ts";

export let server: AloneServer;
export let destination: Destination;

export function startBeforeEach(): void {
  beforeEach(async () => {
    server = await startAlone({});
    destination = await Destination.start();
  });
  afterEach(async () => {
    await server.stop();
    await destination.stop();
  });
}
