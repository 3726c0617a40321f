/** Plain numbers, for an exporter to read. */
export type Counts = {
  calls: number;
  connects: number;
  /** Calls moved to a fresh connection because a kept one ended before a byte of their answer. */
  movedToFresh: number;
  /** Connections to a forbidden address that only the check after connecting found. Must stay 0; alert on it. */
  ssrfBlockedLate: number;
};

export const noCounts = (): Counts => ({
  calls: 0,
  connects: 0,
  movedToFresh: 0,
  ssrfBlockedLate: 0,
});
