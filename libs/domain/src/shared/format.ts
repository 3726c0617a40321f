/**
 * A format is what a build has to know to handle what is stored. Records, lanes and outbox items carry a format where it is
 * above 1. A process neither claims, rings, follows up nor clears what is above its own format. So processes of two builds
 * may run over the same stores, as they do during a rolling upgrade: new things are late, none is lost.
 */
export const ownFormat = 5;

/** The format of a record in a queue: a build that does not know turns would deliver it out of order (ADR 34). */
export const queueFormat = 2;

/** The format of a message of a run: a build that does not know runs would send it without its body. */
export const runFormat = 3;

/** The format of a record whose body is stored apart from it: a build that does not know of that finds no body (ADR 102). */
export const apartFormat = 4;

/** The format of a follow-up of an unmarked start: a build that does not know marks has no worker for it (ADR 150). */
export const marksFormat = 5;

/** Reports whether this build can handle an item of this format. */
export const isUnderstood = ({ format = 1 }: { readonly format?: number }): boolean =>
  format <= ownFormat;
