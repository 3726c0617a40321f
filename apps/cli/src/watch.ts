/** Repeats a command's question until Ctrl-C. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Command } from "commander";
import { CliError } from "./exit.ts";
import { countOf } from "./filters.ts";
import { withValue } from "./option.ts";
import { type Host } from "./session.ts";

export type Watching = { readonly watch?: string | true };

const secondsDefault = 2;
/** Node's timers take at most 24 days; a longer one fires at once. */
const secondsMax = 86_400;

export const withWatch = (command: Command): Command =>
  withValue(command, "--watch [seconds]", {
    about: `Repeat until Ctrl-C, each time after this many seconds, ${secondsDefault} if none are given`,
    ...{ fallback: "asked once", example: "10" },
  });

/** Moves to the upper left corner and clears below. */
const fromTheTop = "\u001b[H\u001b[J";

/** Shows each answer in one write, so that nothing flickers, until Ctrl-C. */
export async function watched(
  host: Host,
  watch: string | true,
  look: (at: Host) => Promise<void>,
): Promise<void> {
  const { interrupted, out } = host;
  const seconds = watch === true ? secondsDefault : countOf(watch, "--watch");
  if (seconds > secondsMax)
    throw new CliError("usage", `--watch: ${seconds} is more than ${secondsMax}, a day`);
  while (!interrupted.aborted) {
    const texts: string[] = [];
    const page = {
      ...(out.isTTY !== undefined && { isTTY: out.isTTY }),
      hasColors: (env: object) => out.hasColors?.(env) === true,
      write: (text: string) => void texts.push(text),
    };
    try {
      await look({ ...host, out: page });
    } catch (error) {
      if (interrupted.aborted) return;
      throw error;
    }
    out.write(`${out.isTTY === true ? fromTheTop : ""}${texts.join("")}`);
    await sleep(seconds * 1_000, undefined, { signal: interrupted }).catch(() => undefined);
  }
}
