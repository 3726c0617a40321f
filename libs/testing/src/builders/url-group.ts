import { type Endpoint } from "@posthaste/domain";

export const someEndpoints = (count: number): readonly Endpoint[] =>
  Array.from({ length: count }, (_, index) => anEndpoint(index));

export const anEndpoint = (index = 0, name?: string): Endpoint => ({
  url: `https://endpoint-${index}.example/hook`,
  ...(name !== undefined && { name }),
});
