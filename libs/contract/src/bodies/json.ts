/** JSON from outside: bounded in size and depth before it is parsed, so that no input can hold the event loop up. */
import { type Fault, fault, isFault } from "@posthaste/domain";
import type * as z from "zod";

const jsonBytesMax = 2 * 1024 * 1024;
const jsonDepthMax = 32;

// Without ignoreBOM a byte order mark would be dropped; JSON.parse refuses it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The body as `schema` has it; faults name the field, such as `endpoints[3].url: …`. */
export function parseJson<S extends z.ZodType>(body: Uint8Array, schema: S): z.output<S> | Fault {
  const value = readJson(body);
  if (isFault(value.fault)) return value.fault;
  const parsed = schema.safeParse(value.json);
  return parsed.success ? parsed.data : faultOf(parsed.error);
}

type Read = { readonly json: unknown; readonly fault?: Fault };

function readJson(body: Uint8Array): Read {
  if (body.length > jsonBytesMax)
    return refused("too_large", `body: must be at most ${jsonBytesMax} bytes`);
  if (isTooDeep(body))
    return refused("malformed", `body: must not nest deeper than ${jsonDepthMax}`);
  try {
    const json: unknown = JSON.parse(utf8.decode(body));
    return { json };
  } catch {
    return refused("malformed", "body: must be JSON in UTF-8");
  }
}

const refused = (code: "malformed" | "too_large", text: string): Read => ({
  json: undefined,
  fault: fault(code, text),
});

const quote = 0x22;
const backslash = 0x5c;
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** One look at each byte. In UTF-8 no byte of a longer character looks like one of these. */
function isTooDeep(body: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] ?? 0;
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (opening.has(byte)) {
      if (++depth > jsonDepthMax) return true;
    } else if (closing.has(byte)) depth--;
  }
  return false;
}

function faultOf(error: z.ZodError): Fault {
  const [issue] = error.issues;
  const path = (issue?.path ?? []).map(pathPart).join("").replace(/^\./, "");
  return fault(
    "malformed",
    `${path === "" ? "body" : path}: ${issue?.message ?? "is not as it must be"}`,
  );
}

const pathPart = (part: PropertyKey): string =>
  typeof part === "number" ? `[${part}]` : `.${String(part)}`;
