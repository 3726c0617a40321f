/** Decodes UTF-8. Returns undefined for other bytes: replacing them would change what is sent. */
export function readableText(body: string | Uint8Array): string | undefined {
  if (typeof body === "string") return body;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}
