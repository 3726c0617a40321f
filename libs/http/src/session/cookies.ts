/** Reads the cookies of a request, and hides those of sessions from code that passes the headers of a request on. */
import { type IncomingMessage } from "node:http";

/** Names the session that a page means. */
export const sessionHeader = "posthaste-session";

type Cookie = { readonly name: string; readonly value: string; readonly text: string };

export function cookiesIn(header: string | undefined): readonly Cookie[] {
  if (header === undefined) return [];
  return header.split(";").map((part) => {
    const text = part.trim();
    const [name = "", ...value] = text.split("=");
    return { name, value: value.join("="), text };
  });
}

/** Matches all our cookies, of gateway and management: browsers do not tell ports apart. */
const isOurs = ({ name }: Cookie): boolean => /^(__Host-)?posthaste-/i.test(name);

/**
 * Removes the proof of a session from `rawHeaders`. Code that passes the headers of a request on (`Header-Forward`, a
 * webhook, the start of a run) takes them from there; `headers` stays unchanged and is read by the guards alone.
 */
export function hideSessions(req: IncomingMessage): void {
  const { cookie, [sessionHeader]: named } = req.headers;
  if (named === undefined && !(cookie !== undefined && cookiesIn(cookie).some(isOurs))) return;
  const left: string[] = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] ?? "";
    const value = valueLeft(name.toLowerCase(), req.rawHeaders[i + 1] ?? "");
    if (value !== undefined) left.push(name, value);
  }
  req.rawHeaders = left;
}

/** Returns undefined when nothing is left. */
function valueLeft(lowerName: string, value: string): string | undefined {
  if (lowerName === sessionHeader) return undefined;
  if (lowerName !== "cookie") return value;
  const others = cookiesIn(value).filter((cookie) => !isOurs(cookie));
  return others.length === 0 ? undefined : others.map(({ text }) => text).join("; ");
}
