/** Character rules for every name and value in a header, received or sent. */

import { type Fault, fault } from "@posthaste/domain";

/** Matches a token (RFC 9110 §5.6.2). */
export const isToken = (text: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);

/** Matches visible ASCII, space and tab (docs/design/wire#headers): receivers might read other characters in two ways. */
export function isHeaderValue(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code > 0x7e) return false;
  }
  return true;
}

/** Finds characters that would end a header or begin another. */
export const hasControls = (text: string): boolean => /[\0-\x08\n-\x1f\x7f]/.test(text);

/** Returns the text of a header, which Node gives byte by byte (latin-1); undefined when its bytes are not UTF-8. */
export function textOfBytes(bytes: string): string | undefined {
  if (!beyondAscii.test(bytes)) return bytes;
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return undefined;
  }
}

/** Returns the text that Node would give if `text` had come in a header as UTF-8. */
export const bytesOfText = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text).toString("latin1") : text;

const beyondAscii = /[^\0-\x7f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Matches a field value (RFC 9110 §5.5): visible ASCII, space, tab, and bytes beyond ASCII. */
export const isFieldValue = (text: string): boolean => /^[\t -~\x80-\xff]*$/.test(text);

/** Matches visible ASCII without space, as in request targets and URLs. */
export function isVisibleAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** Decodes a part of a path. A broken escape is taken literally. */
export const decodedLeniently = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });

/**
 * Matches the name of a URL group or schedule (docs/design/wire#targets). `.` and `..` are not names: a client's path
 * normalisation would remove them.
 */
export const isName = (text: string): boolean =>
  /^[A-Za-z0-9._-]{1,128}$/.test(text) && text !== "." && text !== "..";

export const nameForm = "letters, digits, '-', '_' and '.' only, at most 128 characters";

/** `field`: its name in the documents. */
export const badName = (field: string): Fault => fault("malformed", `${field}: ${nameForm}`);

/** Matches a tenant id, which is a part of lane ids, of log lines and of paths. */
export const isTenantId = (text: string): boolean => /^[\w-]{1,64}$/.test(text);
