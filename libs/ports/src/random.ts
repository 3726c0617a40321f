export interface Random {
  /** `length` characters of [0-9A-Za-z], unguessable. */
  text(length: number): string;
  /** In [0, 1); for jitter. */
  fraction(): number;
}
