/**
 * A format says which builds can handle a stored item. Records, lanes and outbox items carry a format if
 * it is above 1. A process neither claims, rings, follows up nor clears items above its own format. So processes of
 * two builds may run over the same stores, as they do during a rolling upgrade: new items are late, none is lost.
 *
 * Builds before the first release wrote formats up to 5, which are read as format 1 is. The first new one is 6.
 */
export const ownFormat = 5;

/** Reports whether this build can handle an item of this format. */
export const isKnownFormat = ({ format = 1 }: { readonly format?: number }): boolean =>
  format <= ownFormat;
