/**
 * FNV-1a hashes of a text, not cryptographic. `hash32` serves shards and fairness buckets; `hashText` joins two independent
 * hashes for the readable tail of a dead letter's id.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function hashText(text: string): string {
  const high = hash32(text).toString(36).padStart(7, "0");
  const low = hash32(`${text.length}:${text}:`).toString(36).padStart(7, "0");
  return high + low;
}
