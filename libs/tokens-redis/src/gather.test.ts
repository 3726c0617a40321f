import { describe, expect, it } from "@jest/globals";
import { gather, gatherByGroup, type Question } from "./gather.ts";

const question = (name: string, args = 1): Question => ({
  keys: [name],
  args: Array.from({ length: args }, String),
});
const names = (questions: readonly Question[]) => questions.flatMap(({ keys }) => keys);

function recording() {
  const calls: (readonly string[])[] = [];
  const ask = gather(async (questions) => {
    calls.push(names(questions));
    return names(questions);
  });
  return { ask, calls };
}

describe("questions of one turn", () => {
  it("are sent as one call, and each caller gets its own answers in order", async () => {
    const { ask, calls } = recording();

    const answers = await Promise.all([
      ask([question("a"), question("b")]),
      ask([question("c")]),
      ask([]),
      ask([question("d")]),
    ]);

    expect(calls).toEqual([["a", "b", "c", "d"]]);
    expect(answers).toEqual([["a", "b"], ["c"], [], ["d"]]);
  });

  it("do not wait for the answers of an earlier turn", async () => {
    const asked: string[] = [];
    const second = Promise.withResolvers<void>();
    const ask = gather(async (questions) => {
      asked.push(...names(questions));
      if (asked.length > 1) second.resolve();
      return second.promise.then(() => names(questions));
    });

    const first = ask([question("a")]);
    await new Promise((resolve) => setImmediate(resolve));
    await ask([question("b")]);

    expect(await first).toEqual(["a"]);
    expect(asked).toEqual(["a", "b"]);
  });

  it("fail together when their call fails, and no others with them", async () => {
    let isDown = true;
    const ask = gather(async (questions) => {
      if (isDown) throw new Error("away");
      return names(questions);
    });

    const together = await Promise.allSettled([ask([question("a")]), ask([question("b")])]);
    isDown = false;

    expect(together.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await ask([question("c")])).toEqual(["c"]);
  });

  it("that one call cannot hold go out in several, one after the other, and are answered as one", async () => {
    const { ask, calls } = recording();
    const many = Array.from({ length: 1_200 }, (_, i) => question(`${i}`));

    const answers = await ask(many);

    expect(answers).toEqual(names(many));
    expect(calls.map(({ length }) => length)).toEqual([500, 500, 200]);
  });

  it("go out however large one of them is", async () => {
    const { ask, calls } = recording();

    await Promise.all([ask([question("a")]), ask([question("b", 5_000)]), ask([question("c")])]);

    expect(calls).toEqual([["a"], ["b"], ["c"]]);
  });

  it("are not sent when there are none", async () => {
    const { ask, calls } = recording();

    expect(await ask([])).toEqual([]);
    expect(calls).toEqual([]);
  });
});

describe("questions of groups", () => {
  const groupOf = ({ keys: [name = ""] }: Question): number => name.charCodeAt(0);

  it("are sent as one call a group in a turn, and each caller gets its own answers in order", async () => {
    const calls: (readonly string[])[] = [];
    const ask = gatherByGroup(async (questions) => {
      calls.push(names(questions));
      return names(questions);
    }, groupOf);

    const answers = await Promise.all([
      ask([question("b1"), question("a1"), question("b2")]),
      ask([]),
      ask([question("a2")]),
    ]);

    expect(answers).toEqual([["b1", "a1", "b2"], [], ["a2"]]);
    expect(calls).toEqual([
      ["b1", "b2"],
      ["a1", "a2"],
    ]);
  });

  it("fail separately: a caller fails only with its own group", async () => {
    const ask = gatherByGroup(async (questions) => {
      if (names(questions).some((name) => name.startsWith("b"))) throw new Error("away");
      return names(questions);
    }, groupOf);

    const together = await Promise.allSettled([
      ask([question("a1"), question("b1")]),
      ask([question("a2")]),
    ]);

    expect(together.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  });
});
