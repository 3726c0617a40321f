/** Parts of runs that this folder writes as JSON: waits, invocations, and what a failure was told. */

export type StepJson = Readonly<Record<string, unknown>>;

export const jsonBytes = (json: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(json));

/** Parses a part that this folder wrote; the only place where such a type is trusted without a check. */
export const partJson = <T>({ body }: { readonly body: Uint8Array }): T =>
  JSON.parse(new TextDecoder().decode(body)) as T;

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
