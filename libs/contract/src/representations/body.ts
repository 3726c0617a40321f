/** Bodies as JSON: text if they are UTF-8, base64 if not, a hash if they are redacted. */
import {
  type Configuration,
  cutAtCharacter,
  redacted,
  type Redaction,
  type Sha256Hex,
} from "@posthaste/domain";

export type ReadableBody =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly base64: string };

export type ReadView = {
  readonly sha256: Sha256Hex;
  /** Longer bodies are cut there; 0 leaves them out. Absent for whole bodies. */
  readonly bodyBytesMax?: number;
};

export type BodyView = {
  readonly redaction: Redaction | undefined;
  readonly sha256: Sha256Hex;
  /** Longer bodies are cut there; 0 leaves them out. Absent for whole bodies. */
  readonly bytesMax?: number;
};

export const bodyView = (
  { policy: { redaction } }: Configuration,
  { sha256, bodyBytesMax }: ReadView,
): BodyView => ({
  redaction,
  sha256,
  ...(bodyBytesMax !== undefined && { bytesMax: bodyBytesMax }),
});

export function readableBody(bytes: Uint8Array | undefined, view: BodyView): ReadableBody {
  if (!bytes || bytes.length === 0 || view.bytesMax === 0) return { kind: "none" };
  // Also for a response: a destination may answer with the request (docs/design/wire#redaction).
  if (view.redaction?.body) return { kind: "text", text: redacted(bytes, view.sha256) };
  const text = textOf(cutAtCharacter(bytes, view.bytesMax ?? Infinity));
  if (text !== undefined) return { kind: "text", text };
  return { kind: "binary", base64: base64Of(bytes.subarray(0, view.bytesMax)) };
}

/** Returns a body for the log, which has base64 only; a redacted body stays readable as such. */
export function base64Body(bytes: Uint8Array | undefined, view: BodyView): string | undefined {
  if (!bytes || bytes.length === 0 || view.bytesMax === 0) return undefined;
  if (view.redaction?.body) return redacted(bytes, view.sha256);
  return base64Of(bytes.subarray(0, view.bytesMax));
}

// `fatal`, since invalid bytes would be read as U+FFFD; `ignoreBOM`, which keeps a byte order mark, since it is part of the body.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
