import { describe, expect, it } from "@jest/globals";
import { Book } from "./book.ts";

describe("Book", () => {
  it("counts a message that arrives twice as one arrival and one duplicate", () => {
    const book = new Book(100, 10, { kind: "at once" });
    const first = book.send(1, book.now());

    book.answer(first, 1, 200);
    book.arrive(first);
    book.arrive(first);

    expect([book.arrived, book.duplicates]).toEqual([1, 1]);
    expect(book.missing()).toEqual({ lost: 0, unasked: 0 });
  });

  it("counts an accepted message that never arrives as lost", () => {
    const book = new Book(0, 10, { kind: "at once" });

    book.answer(book.send(3, book.now()), 3, 200);
    book.arrive(1);

    expect(book.missing()).toEqual({ lost: 2, unasked: 0 });
  });

  it("counts an arrival of a message that was refused", () => {
    const book = new Book(0, 10, { kind: "at once" });

    book.answer(book.send(1, book.now()), 1, 503);
    book.arrive(0);

    expect(book.missing()).toEqual({ lost: 0, unasked: 1 });
    expect(book.refusals.get(503)).toBe(1);
  });

  it("counts an arrival before its due time as early", () => {
    const book = new Book(0, 10, { kind: "after", ms: 60_000 });

    book.answer(book.send(1, book.now()), 1, 200);
    book.arrive(0);

    expect(book.early).toBe(1);
  });

  it("measures lateness from the time at which the message was due", () => {
    const book = new Book(0, 10, { kind: "after", ms: 1_000 });
    const sentAt = book.now() - 1_500;

    book.answer(book.send(1, sentAt), 1, 200);
    book.arrive(0);

    const [lateMs] = book.arrivalMs();
    expect(book.early).toBe(0);
    expect(lateMs).toBeGreaterThanOrEqual(500);
  });
});
