import { type Endpoint } from "@posthaste/domain";

/** `count` endpoints of one group, in order. */
export const someEndpoints = (count: number): readonly Endpoint[] =>
  Array.from({ length: count }, (_, index) => anEndpoint(index));

export const anEndpoint = (index = 0, name?: string): Endpoint => ({
  url: `https://endpoint-${index}.example/hook`,
  ...(name !== undefined && { name }),
});
