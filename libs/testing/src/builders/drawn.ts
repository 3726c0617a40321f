/** Messages and filters of the same few values, drawn from a seed: most filters find some of the messages. */
import { type LiveFilter } from "@posthaste/domain";
import { type Dice } from "../seeded-random.ts";
import { aPolicy, type MessageOverrides } from "./message.ts";

type Values = readonly [string, ...string[]];

const urls: Values = [
  "https://a.example/x",
  "https://a.example:8443/x?q=1,2",
  "https://a.example/y",
  "https://b.example/x",
];
const addresses: Values = ["203.0.113.7", "2001:db8::1"];
const names: Values = ["one", "two", "three"];
/** Of labels and flow keys, which may be any text. */
const texts: Values = ["one", 'a "quoted" \\ one', "ü/𝒳 %_*"];
const unheardOf = "unheard-of";

/** Times of a drawn message and of a drawn filter are so far behind `from` at most. */
export const drawnForMs = 20;

export function drawnMessage(chance: Dice, from: number): MessageOverrides & { now: number } {
  const perhaps = (probability: number): string | undefined =>
    chance.chance(probability) ? chance.pick(names) : undefined;
  const [group, scheduleId, queueName] = [0.5, 0.3, 0.5].map(perhaps);
  return {
    now: from + chance.integer(0, drawnForMs),
    url: chance.pick(urls),
    origin: {
      ...{ callerIp: chance.pick(addresses), hop: 0 },
      ...(group !== undefined && { group: { name: group } }),
      ...(scheduleId !== undefined && { scheduleId }),
      ...(queueName !== undefined && { queueName }),
    },
    policy: aPolicy({ labels: texts.filter(() => chance.chance(0.3)) }),
    ...(chance.chance(0.5) && {
      flow: { key: chance.pick(texts), limits: { parallelism: 1, periodMs: 1_000 } },
    }),
  };
}

export function drawnFilter(chance: Dice, from: number): LiveFilter {
  const wanted: readonly (readonly [keyof LiveFilter, Values])[] = [
    ["urls", urls],
    ["hosts", ["a.example", "a.example:8443", "b.example"]],
    ["paths", ["/x", "/y"]],
    ["callerIps", addresses],
    ["groups", names],
    ["scheduleIds", names],
    ["queueNames", names],
    ["labels", texts],
    ["flowControlKeys", texts],
  ];
  const lists: Omit<LiveFilter, "from" | "to"> = Object.fromEntries(
    wanted
      .filter(() => chance.chance(0.25))
      .map(([name, values]) => [name, [chance.pick(values), chance.pick([...values, unheardOf])]]),
  );
  const [first = from, last = from] = [0, 0]
    .map(() => from + chance.integer(0, drawnForMs))
    .toSorted((a, b) => a - b);
  return {
    ...lists,
    ...(chance.chance(0.2) && { from: first }),
    ...(chance.chance(0.2) && { to: last }),
  };
}
