import { describe, expect, it } from "@jest/globals";
import { type Column, Output } from "./output.ts";

function opened({ isTerminal = false, wantsJson = false } = {}) {
  const said = { out: "", err: "" };
  const stream = (name: "out" | "err") => ({
    isTTY: isTerminal,
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

  it("is JSON where there is no terminal, or where it is asked for: a line each, whole", () => {
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

  it("of nothing says so to people alone", () => {
    const [onTerminal, elsewhere] = [opened({ isTerminal: true }), opened()];
    onTerminal.output.rows([], columns);
    elsewhere.output.rows([], columns);

    expect([onTerminal.said.out, elsewhere.said.out]).toEqual(["nothing\n", ""]);
  });
});

describe("progress", () => {
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
