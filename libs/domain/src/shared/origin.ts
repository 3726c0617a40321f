import { hash32 } from "./hash.ts";

/** Hash of scheme, host and port of a destination: the unit of fairness and of connection limits. */
export function originHash(url: string): number {
  const hostAt = url.indexOf("//") + 2;
  for (let i = hostAt; i < url.length; i++) {
    const char = url.charCodeAt(i);
    if (char === 0x2f || char === 0x3f || char === 0x23)
      return hash32(url.slice(0, i).toLowerCase());
  }
  return hash32(url.toLowerCase());
}
