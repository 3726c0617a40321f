/** Asks whether a server on this host answers yet. */
import { connect } from "node:net";
import { loopback } from "./ports.ts";

const answerMsMax = 2_000;

export function accepts(port: number): Promise<boolean> {
  return ask(port, undefined, () => true);
}

/** Sends `question` and checks the first bytes of the answer. */
export function answers(
  port: number,
  question: Uint8Array | string,
  isGood: (answer: Buffer) => boolean,
): Promise<boolean> {
  return ask(port, question, isGood);
}

function ask(
  port: number,
  question: Uint8Array | string | undefined,
  isGood: (answer: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: loopback, timeout: answerMsMax });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => {
      if (question === undefined) settle(true);
      else socket.write(question);
    });
    socket.once("data", (answer) => settle(isGood(answer)));
    for (const failure of ["error", "timeout", "close"]) socket.once(failure, () => settle(false));
  });
}
