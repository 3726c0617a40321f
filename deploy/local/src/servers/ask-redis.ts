/** Sends one command to a Redis on this host, for the setup that precedes a client. */
import { connect } from "node:net";
import { loopback } from "../process/ports.ts";

const answerMsMax = 2_000;

/** Returns the raw answer, or "" when there is none. */
export function askRedis(port: number, ...words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: loopback, timeout: answerMsMax });
    let answer = "";
    socket.setEncoding("utf8").on("data", (some: string) => (answer += some));
    socket.once("connect", () => socket.end(wireOf(words)));
    socket.once("timeout", () => socket.destroy());
    socket.once("error", () => undefined);
    socket.once("close", () => resolve(answer));
  });
}

export async function untilRedis(
  port: number,
  words: readonly string[],
  isGood: (answer: string) => boolean,
): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await askRedis(port, ...words);
    if (isGood(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`${words.join(" ")} on port ${port}: still ${answer.slice(0, shownMax)}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

const patienceMs = 60_000;
const pollMs = 50;
const shownMax = 500;

const wireOf = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
