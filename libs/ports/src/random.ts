export interface Random {
  /** Returns `length` unguessable characters of [0-9A-Za-z]. */
  text(length: number): string;
  /** Returns a number in [0, 1), for jitter. */
  fraction(): number;
}
