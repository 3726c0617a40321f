import { describe, expect, it } from "@jest/globals";
import { packagesOf } from "./debian.ts";

describe("the packages that apt would install", () => {
  it("is every package of its simulation, once", () => {
    const simulation = `Reading package lists...
The following NEW packages will be installed:
  libjemalloc2 redis-tools
Inst libjemalloc2 (5.3.0-1 Debian:12.12/oldstable [amd64])
Inst redis-tools (5:7.0.15-1 Debian:12.12/oldstable [amd64])
Conf libjemalloc2 (5.3.0-1 Debian:12.12/oldstable [amd64])
Conf redis-tools (5:7.0.15-1 Debian:12.12/oldstable [amd64])
`;

    expect(packagesOf(simulation)).toEqual(["libjemalloc2", "redis-tools"]);
  });
});
