/** Numbers messages over the whole run, so that every arrival finds its own job, even a late one. */
import { Book, type Due } from "./book.ts";

export class Books {
  readonly #open: Book[] = [];
  #next = 0;
  /** Arrivals of no open book: duplicates of an earlier job, or noise. */
  strays = 0;

  open(capacity: number, due: Due = { kind: "at once" }): Book {
    const book = new Book(this.#next, capacity, due);
    this.#next += capacity;
    this.#open.unshift(book);
    return book;
  }

  close(book: Book): void {
    const index = this.#open.indexOf(book);
    if (index !== -1) this.#open.splice(index, 1);
  }

  arrive(number: number): void {
    // A few at most: the jobs that run at the same time.
    for (const book of this.#open) {
      if (number >= book.base && number < book.base + book.capacity) {
        book.arrive(number);
        return;
      }
    }
    this.strays++;
  }
}
