/** Counts unfinished records per tenant, commit by commit. Exact. */
export type Backlog = {
  add(tenant: number, n: number): void;
  of(tenant: number): number;
};

export function openBacklog(): Backlog {
  const counts = new Map<number, number>();
  return {
    add: (tenant, n) => void counts.set(tenant, (counts.get(tenant) ?? 0) + n),
    of: (tenant) => counts.get(tenant) ?? 0,
  };
}
