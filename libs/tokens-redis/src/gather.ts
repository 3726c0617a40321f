/**
 * Gathers the questions to one script in one turn of the event loop into one call (ADR 2): under load a turn has many
 * questions, and an idle process does not wait.
 *
 * Calls do not wait for each other's answers, since waiting would use up a question's budget; Redis answers in order
 * over the one connection, and the budget bounds how many calls are under way.
 */
export type Question = { readonly keys: readonly string[]; readonly args: readonly string[] };

export type Send = (questions: readonly Question[]) => Promise<readonly unknown[]>;

/** The most keys and arguments in one call: some milliseconds of a server that does one thing at a time. */
const sizeMax = 1_000;

type Asked = {
  readonly questions: readonly Question[];
  readonly resolve: (answers: readonly unknown[]) => void;
  readonly reject: (cause: unknown) => void;
};

/** Answers are in the order of the questions. Questions that one call cannot hold are sent in several, one after the other. */
export function gather(send: Send): Send {
  let waiting: Asked[] = [];
  const sendAll = (): void => {
    const asked = waiting;
    waiting = [];
    const sizeOfAll = ({ questions }: Asked) => sum(questions.map(sizeOf));
    for (const together of portions(asked, sizeOfAll)) void sendTogether(send, together);
  };
  const wait = (questions: readonly Question[]): Promise<readonly unknown[]> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(sendAll);
      waiting.push({ questions, resolve, reject });
    });
  return async (questions) => {
    const answers: unknown[] = [];
    for (const portion of portions(questions, sizeOf)) answers.push(...(await wait(portion)));
    return answers;
  };
}

/** Is like `gather`, but only questions of one group are sent together; the groups of a turn are sent at the same time. */
export function gatherByGroup(send: Send, groupOf: (question: Question) => number): Send {
  let ofTurn: Map<number, Send> | undefined;
  const groups = (): Map<number, Send> => {
    if (ofTurn === undefined) {
      ofTurn = new Map();
      setImmediate(() => (ofTurn = undefined));
    }
    return ofTurn;
  };
  const askGroup = (group: number, questions: readonly Question[]) => {
    const known = groups().get(group);
    const ask = known ?? gather(send);
    if (known === undefined) groups().set(group, ask);
    return ask(questions);
  };
  return async (questions) => {
    const answers: unknown[] = Array.from({ length: questions.length });
    const numbered = questions.map((question, at) => ({ question, at }));
    const asked = [...Map.groupBy(numbered, ({ question }) => groupOf(question))].map(
      async ([group, some]) => {
        const told = await askGroup(
          group,
          some.map(({ question }) => question),
        );
        for (const [i, { at }] of some.entries()) answers[at] = told[i];
      },
    );
    await Promise.all(asked);
    return answers;
  };
}

async function sendTogether(send: Send, asked: readonly Asked[]): Promise<void> {
  try {
    const answers = await send(asked.flatMap(({ questions }) => questions));
    let from = 0;
    for (const { questions, resolve } of asked) {
      resolve(answers.slice(from, from + questions.length));
      from += questions.length;
    }
  } catch (cause) {
    for (const { reject } of asked) reject(cause);
  }
}

/** Splits `items` in order, each portion as large as fits, with one item at least. */
function portions<T>(items: readonly T[], size: (item: T) => number): readonly (readonly T[])[] {
  const all: T[][] = [];
  let left = 0;
  for (const item of items) {
    left -= size(item);
    const last = all.at(-1);
    if (last && left >= 0) last.push(item);
    else {
      all.push([item]);
      left = sizeMax - size(item);
    }
  }
  return all;
}

const sizeOf = ({ keys, args }: Question): number => keys.length + args.length;
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
