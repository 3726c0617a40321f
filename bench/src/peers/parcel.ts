/** Packs publishes for another thread: together, as one text and one buffer. */
import { type Publish } from "./accept.ts";

export type Parcel = { readonly text: string; readonly bodies: Uint8Array<ArrayBuffer> };

/** `bodies` holds each body in order, `length` bytes long. */
type Entry = Omit<Publish["delivery"], "body"> & { readonly id: string; readonly length: number };

export function pack(publishes: readonly Publish[]): Parcel {
  const pieces = publishes.map(({ delivery }) => Buffer.from(delivery.body));
  const bodies = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bodies.set(piece, at);
    at += piece.length;
  }
  const entries = publishes.map(({ id, delivery: { url, headers } }, index): Entry => ({
    id,
    url,
    headers,
    length: pieces[index]?.length ?? 0,
  }));
  return { text: JSON.stringify(entries), bodies };
}

export function unpack({ text, bodies }: Parcel): readonly Publish[] {
  let at = 0;
  return (JSON.parse(text) as readonly Entry[]).map(({ id, url, headers, length }) => {
    const body = Buffer.from(bodies.buffer, at, length);
    at += length;
    return { id, delivery: { url, headers, body } };
  });
}
