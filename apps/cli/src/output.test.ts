import { WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { type Column, Output } from "./output.ts";

function opened({ hasColors = false, isTerminal = false, wantsJson = false } = {}) {
  const said = { out: "", err: "" };
  const stream = (name: "out" | "err") => ({
    isTTY: isTerminal,
    hasColors: () => hasColors,
    write: (text: string) => void (said[name] += text),
  });
  return { output: new Output(stream("out"), stream("err"), wantsJson), said };
}

const items = [
  { id: "a", url: "https://a.example" },
  { id: "long", url: `https://${"b".repeat(100)}.example` },
];
const columns: readonly Column<(typeof items)[number]>[] = [
  ["id", ({ id }) => id],
  ["url", ({ url }) => url],
];

describe("a list", () => {
  it("is a table on a terminal, whose cells are cut", () => {
    const { output, said } = opened({ isTerminal: true });
    output.rows(items, columns);

    const [head, first, second] = said.out.split("\n");
    expect(head).toBe("id    url");
    expect(first).toBe("a     https://a.example");
    expect(second).toMatch(/^long {2}https:\/\/b+…$/);
  });

  it("is JSON without a terminal, or with the option for it: a whole item on each line", () => {
    for (const { output, said } of [opened(), opened({ isTerminal: true, wantsJson: true })]) {
      output.rows(items, columns);

      expect(
        said.out
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual(items);
    }
  });

  it("of nothing prints a word on a terminal, and nothing elsewhere", () => {
    const [onTerminal, elsewhere] = [opened({ isTerminal: true }), opened()];
    onTerminal.output.rows([], columns);
    elsewhere.output.rows([], columns);

    expect([onTerminal.said.out, elsewhere.said.out]).toEqual(["nothing\n", ""]);
  });
});

describe("colours", () => {
  const states = [
    ...["FAILED", "RUN_FAILED", "ERROR"].map((state) => [state, 31] as const),
    ...["DELIVERED", "STEP_SUCCESS"].map((state) => [state, 32] as const),
    ...["RETRY", "ACTIVE", "paused"].map((state) => [state, 33] as const),
  ];

  it.each(states)("are of states alone: %s is painted %i", (state, code) => {
    const { output, said } = opened({ hasColors: true, isTerminal: true });
    output.item({ state, url: "https://a.example/FAILED", note: `it is ${state}` });

    expect(said.out).toContain(`\u001b[${code}m${state}\u001b[39m\n`);
    expect(said.out.split(`\u001b[${code}m`)).toHaveLength(2);
  });

  it("leave the columns where they are", () => {
    const rows = [{ state: "FAILED" }, { state: "ACTIVE" }];
    const columns: readonly Column<(typeof rows)[number]>[] = [
      ["state", ({ state }) => state],
      ["url", () => "x"],
    ];
    const painted = opened({ hasColors: true, isTerminal: true });
    const plain = opened({ isTerminal: true });
    for (const { output } of [painted, plain]) output.rows(rows, columns);

    expect(stripVTControlCharacters(painted.said.out)).toBe(plain.said.out);
    expect(painted.said.out).not.toBe(plain.said.out);
  });

  it("are left out if the terminal has none, in JSON, and in text of a server", () => {
    const hostile = { state: "\u001b[31mFAILED" };
    const [none, json, sent] = [
      opened({ isTerminal: true }),
      opened({ hasColors: true, isTerminal: true, wantsJson: true }),
      opened({ hasColors: true, isTerminal: true }),
    ];
    none.output.item({ state: "FAILED" });
    json.output.item({ state: "FAILED" });
    sent.output.lines([hostile.state]);

    for (const { said } of [none, json, sent]) expect(said.out).not.toContain("\u001b[31m");
  });

  it("follow the terminal and NO_COLOR, as Node has it", () => {
    const terminal = Object.create(WriteStream.prototype) as WriteStream;
    const shows = (env: object) => terminal.hasColors(env);

    expect(shows({ TERM: "xterm-256color" })).toBe(true);
    expect(shows({ TERM: "xterm-256color", NO_COLOR: "1" })).toBe(false);
    expect(shows({ TERM: "dumb" })).toBe(false);
  });
});

describe("progress", () => {
  it("has a bar where the end is known", () => {
    const { output, said } = opened({ isTerminal: true });
    output.progress("5 of them", 0.55);

    expect(said.err).toBe(`\r\u001b[K${"█".repeat(11)}${"░".repeat(9)}  55 % 5 of them`);
  });

  it("is for terminals alone, and leaves nothing", () => {
    const [onTerminal, elsewhere] = [opened({ isTerminal: true }), opened()];
    for (const { output } of [onTerminal, elsewhere]) {
      output.progress("1 done");
      output.progressEnds();
    }

    expect(onTerminal.said).toEqual({ out: "", err: "\r\u001b[K1 done\r\u001b[K" });
    expect(elsewhere.said).toEqual({ out: "", err: "" });
  });
});
