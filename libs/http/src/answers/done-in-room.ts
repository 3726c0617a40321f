/** Work whose answer may be long and tells what was done: there is room for the answer before the work begins. */
import { type Fault, isFault } from "@posthaste/domain";
import { type AnswerStream } from "./answer-room.ts";
import { type Answers } from "./answers.ts";

/** With the stream that the answer is to be sent through, if it comes in pieces. */
export async function doneInRoom<A extends object>(
  answers: Pick<Answers, "open">,
  owner: string,
  work: () => Promise<A | Fault>,
): Promise<(A & { readonly owner?: AnswerStream }) | Fault> {
  const stream = answers.open(owner);
  if (isFault(stream)) return stream;
  let isToBeSent = false;
  try {
    const answered = await work();
    isToBeSent = !isFault(answered) && "pieces" in answered;
    return isFault(answered) || !isToBeSent ? answered : { ...answered, owner: stream };
  } finally {
    if (!isToBeSent) stream.close();
  }
}
