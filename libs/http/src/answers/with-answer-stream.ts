/** Runs work that opens a stream for its answer before it begins, because the answer reports finished work, or reads a page. */
import { type ReadPermit } from "@posthaste/contract";
import { type Fault, isFault } from "@posthaste/domain";
import { type AnswerStream } from "./answer-limiter.ts";
import { type Answers } from "./answers.ts";

/** Runs `work`. The result has the stream through which to send the answer, if the answer comes in pieces. */
export async function withAnswerStream<A extends object>(
  answers: Pick<Answers, "open">,
  owner: string,
  work: () => Promise<A | Fault>,
): Promise<(A & { readonly owner?: AnswerStream }) | Fault> {
  const stream = answers.open(owner);
  if (isFault(stream)) return stream;
  let isToBeSent = false;
  try {
    const answered = await work();
    isToBeSent = !isFault(answered) && "read" in answered;
    return isFault(answered) || !isToBeSent ? answered : { ...answered, owner: stream };
  } finally {
    if (!isToBeSent) stream.close();
  }
}

/** Runs `work` with a permit and returns its result, or a fault when too many streams are under way. */
export async function withReadPermit<T>(
  answers: Pick<Answers, "open">,
  owner: string,
  work: (permit: ReadPermit) => Promise<T>,
): Promise<T | Fault> {
  const stream = answers.open(owner);
  if (isFault(stream)) return stream;
  try {
    return await stream.withPermit(work);
  } finally {
    stream.close();
  }
}
