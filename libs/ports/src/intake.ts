/**
 * Says whether a write takes on `new` work, or continues work that was `accepted`: a child, a callback, a slot of a schedule, a
 * step, a retry; and an end, a pause or a cancellation, which free space. A store that runs out of space, on its disk or in its
 * line of writes, refuses only new work.
 */
export type Intake = "new" | "accepted";
