/** How clients ask gateways: any one that is up, and for no longer than their patience. */
import { type Dice } from "@posthaste/testing";
import { type Gateway } from "./gateway.ts";
import { type World } from "./world/world.ts";

export type Gateways = () => readonly Gateway[];

export const anyOf = <T>(chance: Dice, items: readonly T[]): T | undefined =>
  items[chance.integer(0, Math.max(0, items.length - 1))];

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

type Client = {
  readonly world: World;
  readonly chance: Dice;
  readonly gateways: Gateways;
  readonly timeoutMs: number;
};
export type Ask<T> = (gateway: Gateway) => Promise<T>;
export type UntilDone = <T>(ask: Ask<T>) => Promise<T>;

/** Asks one gateway. The answer may be undefined, too, so it is wrapped. */
export async function askedOnce<T>(
  { world, chance, gateways, timeoutMs }: Client,
  ask: Ask<T>,
): Promise<{ readonly value: T } | undefined> {
  const gateway = anyOf(chance, gateways());
  return (
    gateway &&
    answered(
      world,
      timeoutMs,
      ask(gateway).then((value) => ({ value })),
    )
  );
}

/** Asks until a gateway answers: when the troubles are over, at the latest. */
export async function untilAnswered<T>(client: Client, ask: Ask<T>): Promise<T> {
  for (;;) {
    const answer = await askedOnce(client, ask);
    if (answer) return answer.value;
    await client.world.wait(1_000);
  }
}
