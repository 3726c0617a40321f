/**
 * Formats: what a build has to know to handle what is stored. Records, lanes and outbox items carry a number where it is
 * above 1. A process leaves alone what is above its own: it neither claims, rings, follows up nor clears it. So processes of
 * two builds may run over the same stores, as they do during a rolling upgrade: new things are late, none is lost.
 */
export const ownFormat = 5;

/** Of a record in a queue: a build that does not know turns would deliver it out of order (ADR 34). */
export const queueFormat = 2;

/** Of a message of a run: a build that does not know runs would send it without its body. */
export const runFormat = 3;

/** Of a record whose body stands apart from it: a build that does not know that would find none (ADR 102). */
export const apartFormat = 4;

/** The format of a follow-up of an unmarked start: a build that does not know marks has no worker for it (ADR 150). */
export const marksFormat = 5;

/** Whether this build knows what to do with it. */
export const isUnderstood = ({ format = 1 }: { readonly format?: number }): boolean =>
  format <= ownFormat;
