import { describe } from "@jest/globals";
import { describeRoster } from "@posthaste/testing/contract";
import { freshDatabase } from "./opened.fixture.ts";
import { createRoster } from "./roster.ts";
import { servers } from "./servers.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, []);

  describeRoster(name, async () => {
    const { connection, clock } = await open();
    return {
      roster: createRoster(connection),
      advance: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });
});
