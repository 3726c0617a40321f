import { describe, expect, it } from "@jest/globals";
import { type Field, isFiltered, queryOf, searchOf } from "./filters.ts";

const fields: readonly Field[] = [
  { name: "label", label: "Label", kind: "text" },
  { name: "fromDate", label: "From", kind: "from" },
  { name: "toDate", label: "To", kind: "to" },
];
const query = (search: string) => queryOf(new URLSearchParams(search), fields);

describe("filters in the address", () => {
  it("are sent in the form of the API: dates in milliseconds, to the end of the last minute", () => {
    expect(query("label=a%2Cb&fromDate=2026-11-25T02:24&toDate=2026-11-25T02:24")).toEqual({
      label: "a,b",
      fromDate: String(Date.UTC(2026, 10, 25, 2, 24)),
      toDate: String(Date.UTC(2026, 10, 25, 2, 25) - 1),
    });
  });

  it("bring the page of the list along, and nothing that is no filter", () => {
    expect(query("cursor=c&view=graph&label=")).toEqual({ cursor: "c" });
  });

  it("with an invalid time go to the server unchanged, which refuses them", () => {
    expect(query("fromDate=yesterday")).toEqual({ fromDate: "yesterday" });
  });

  it("of a bulk action lead to the list of the messages that it takes", () => {
    const at = (minute: number) => [String(Date.UTC(2026, 10, 25, 2, minute, 30))];
    const filter = { label: ["a", "b"], fromDate: at(24), toDate: at(25) };

    expect(searchOf(filter).toString()).toBe(
      "label=a%2Cb&fromDate=2026-11-25T02%3A24&toDate=2026-11-25T02%3A25",
    );
  });

  it("are distinguished from a list without filters", () => {
    expect(isFiltered(new URLSearchParams("cursor=c&label="), fields)).toBe(false);
    expect(isFiltered(new URLSearchParams("label=a"), fields)).toBe(true);
  });
});
