const continuationBytesMax = 3;

/** Returns the first `bytesMax` bytes, up to three fewer if those end within a character of UTF-8. */
export function cutAtCharacter(bytes: Uint8Array, bytesMax: number): Uint8Array {
  if (bytes.length <= bytesMax) return bytes;
  const endMin = Math.max(bytesMax - continuationBytesMax, 0);
  let end = bytesMax;
  while (end > endMin && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
