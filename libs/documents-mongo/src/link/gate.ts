/**
 * A gate in front of reads that take the server long: `tasksMax` run at a time, `tasksPerOwnerMax` of them for one
 * owner. Owns the tasks under way and the waiting tasks.
 *
 * (1) waiting tasks enter in the order of their arrival, except those of owners that have all their places.
 * (2) a task waits for `waitMsMax` at most and is then refused.
 */
import { type Clock, StoreError } from "@posthaste/ports";

export type GateBounds = {
  readonly tasksMax: number;
  readonly tasksPerOwnerMax: number;
  readonly waitingMax: number;
  readonly waitMsMax: number;
};

export type Gate = {
  readonly run: <T>(owner: string, task: () => Promise<T>) => Promise<T>;
  readonly underWay: () => number;
};

type Waiting = { readonly owner: string; readonly enter: () => void };

export function createGate(clock: Clock, bounds: GateBounds): Gate {
  const { tasksMax, tasksPerOwnerMax, waitingMax, waitMsMax } = bounds;
  const byOwner = new Map<string, number>();
  // Holds at most `waitingMax`.
  const waiting: Waiting[] = [];
  let all = 0;

  const countOf = (owner: string): number => byOwner.get(owner) ?? 0;
  const mayEnter = (owner: string): boolean => all < tasksMax && countOf(owner) < tasksPerOwnerMax;
  const add = (owner: string, n: 1 | -1): void => {
    all += n;
    const count = countOf(owner) + n;
    if (count > 0) byOwner.set(owner, count);
    else byOwner.delete(owner);
  };

  function letIn(): void {
    // Each round lets one waiting task in, except the last.
    for (;;) {
      const next = waiting.findIndex(({ owner }) => mayEnter(owner));
      const [entering] = next < 0 ? [] : waiting.splice(next, 1);
      if (!entering) return;
      add(entering.owner, 1);
      entering.enter();
    }
  }

  async function enter(owner: string): Promise<void> {
    if (mayEnter(owner)) return add(owner, 1);
    if (waiting.length >= waitingMax) throw tooMany();
    await new Promise<void>((resolve, reject) => {
      const callOff = clock.after(waitMsMax, () => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(tooMany());
      });
      const waiter = {
        owner,
        enter: () => {
          callOff();
          resolve();
        },
      };
      waiting.push(waiter);
    });
  }

  return {
    run: async (owner, task) => {
      await enter(owner);
      try {
        return await task();
      } finally {
        add(owner, -1);
        letIn();
      }
    },
    underWay: () => all,
  };
}

const tooMany = (): StoreError =>
  new StoreError("overloaded", "too many lists, counts and walks are running");
