import { type World } from "./world.ts";

/** Returns the answer that a client gets within `ms`, or undefined for no answer and for an error. */
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
