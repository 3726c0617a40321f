/**
 * TLS sessions of destinations, to resume. A destination decides how large and how many its sessions are. The latest
 * of each destination is kept, at most `sessionsMax`, none above `sessionBytesMax`.
 */
import { TextCache } from "@posthaste/domain";

const sessionsMax = 1_000;
/** A ticket and a leaf certificate take about 2 KiB. Without a session the next handshake is a full one. */
const sessionBytesMax = 8 * 1_024;
/** Characters in the key of a session: address, port and name. */
const destinationLengthMax = 512;

export class TlsSessions {
  readonly #sessions = new TextCache<Buffer>({
    entriesMax: sessionsMax,
    lengthMax: destinationLengthMax,
  });

  of(destination: string): Buffer | undefined {
    return this.#sessions.get(destination);
  }

  keep(destination: string, session: Buffer): void {
    if (session.length > sessionBytesMax) this.#sessions.delete(destination);
    else this.#sessions.set(destination, session);
  }
}
