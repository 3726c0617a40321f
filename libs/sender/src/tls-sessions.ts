/**
 * TLS sessions of destinations, to resume. A destination says how large its own is, and how many it sends: the latest of
 * each is kept, at most `sessionsMax`, none above `sessionBytesMax`.
 */
const sessionsMax = 1_000;
/** A ticket and a leaf certificate take about two; without a session the next handshake is a whole one. */
const sessionBytesMax = 8 * 1_024;

export class TlsSessions {
  readonly #sessions = new Map<string, Buffer>();

  of(destination: string): Buffer | undefined {
    return this.#sessions.get(destination);
  }

  keep(destination: string, session: Buffer): void {
    this.#sessions.delete(destination);
    if (session.length > sessionBytesMax) return;
    this.#sessions.set(destination, session);
    const oldest =
      this.#sessions.size > sessionsMax ? this.#sessions.keys().next().value : undefined;
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }
}
