export interface Random {
  /** Returns `length` unguessable characters of [0-9A-Za-z]. */
  text(length: number): string;
  fraction(): number;
}
