import { figure, table } from "../report/markdown.ts";
import { type SelfTime, type SelfTimes } from "./self-time.ts";

const packagesShown = 14;
const functionsShown = 25;

/** `messages`: the number delivered during the profile. */
export function selfTimeTables(
  { byPackage, byFunction }: SelfTimes,
  messages: number,
): readonly [string, string] {
  const rows = (times: readonly SelfTime[], shown: number) =>
    times
      .slice(0, shown)
      .map(({ name, ms, share }) => [
        `\`${name}\``,
        figure(share * 100),
        figure((ms * 1000) / messages),
      ]);
  return [
    table(["package", "%", "µs/message"], rows(byPackage, packagesShown)),
    table(["function", "%", "µs/message"], rows(byFunction, functionsShown)),
  ];
}
