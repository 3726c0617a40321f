/** What a reader of a long body yields where it has done a turn's work and found nothing yet. */
export const pause = Symbol("pause");
export type Pause = typeof pause;
