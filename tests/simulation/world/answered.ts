import { type World } from "./world.ts";

/** What a client hears within so long. Undefined: no answer, or one that says nothing. */
export function answered<T>(world: World, ms: number, asked: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancelTimer = world.after(ms, () => resolve(undefined));
    const done = (value: T | undefined): void => {
      cancelTimer();
      resolve(value);
    };
    asked.then(done, () => done(undefined));
  });
}
