/** The slot of a key, as Redis Cluster computes it: CRC16 (XMODEM) over the key, or over its tag in braces. */
export const slotsTotal = 16_384;

export function slotOf(key: string): number {
  const from = key.indexOf("{");
  const to = from < 0 ? -1 : key.indexOf("}", from + 1);
  return crc16(to > from + 1 ? key.slice(from + 1, to) : key) % slotsTotal;
}

/** Returns a key that begins with `start`, in one of the slots of `isIn`. The expected tries are all slots divided by those. */
export function keyIn(start: string, isIn: (slot: number) => boolean): string {
  for (let tag = 0; tag < triesMax; tag++) if (isIn(slotOf(`${tag}`))) return `${start}{${tag}}`;
  throw new Error(`none of ${triesMax} keys is in the wanted slots`);
}
const triesMax = 1_000_000;

function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text))
    crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0);
  return crc;
}

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});
