/**
 * Finds members of a JSON object by their names. The whole text is checked byte by byte, and only the places of the
 * wanted members are kept: however many values the text has, this reads each byte once and takes no memory.
 */
import { isUtf8 } from "node:buffer";
import { fault, type Fault } from "@posthaste/domain";
import * as json from "./json-grammar.ts";
import { jsonDepthMax, notJson, type Span, tooDeep, trimmed } from "./json-parts.ts";
import { bytesPerTurn, type InTurns, pause } from "./pause.ts";

const membersMax = 1_024;
const inString = json.string * 256;

/** The place of the value; for a repeated name, of the last one. */
type Member = Span & { readonly isRepeated?: true };
type Members = ReadonlyMap<string, Member>;

export function* readMembers(
  text: Uint8Array,
  names: ReadonlySet<string>,
  depthMax = jsonDepthMax,
): InTurns<Members | Fault> {
  // A plain view, since the native check does not accept a proxy, by which tests count reads.
  if (!isUtf8(new Uint8Array(text.buffer, text.byteOffset, text.length))) return notJson;
  const scan = new MemberScan(text, names, depthMax);
  for (;;) {
    const read = scan.lookOn(bytesPerTurn);
    if (read) return read;
    yield pause;
  }
}

/** A class, since the loop inside the generator would take ten times as long for each byte. */
class MemberScan {
  readonly #text: Uint8Array;
  /** `#text` as a Buffer, to read names from. */
  readonly #bytes: Buffer;
  readonly #names: ReadonlySet<string>;
  readonly #found = new Map<string, Member>();
  /** The byte that closes each open array and object, the innermost last. */
  readonly #closing: Uint8Array;
  #depth = 0;
  #state = json.start;
  #at = 0;
  /** Where the last name began. */
  #nameFrom = -1;
  #isInName = false;
  #members = 0;
  /** The member of the outermost object that began last: its name, and where its value begins. */
  #name: string | undefined;
  #from = 0;

  constructor(text: Uint8Array, names: ReadonlySet<string>, depthMax: number) {
    this.#text = text;
    this.#bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
    this.#names = names;
    this.#closing = new Uint8Array(depthMax);
  }

  /** Reads `bytes` more bytes. Returns undefined when the end is not reached. */
  lookOn(bytes: number): Members | Fault | undefined {
    const text = this.#text;
    const until = Math.min(this.#at + bytes, text.length);
    let state = this.#state;
    for (let at = this.#at; at < until; at++) {
      const next = json.grammar[state * 256 + (text[at] ?? 0)] ?? json.refuse;
      if (next < json.somethingToDo) {
        state = next;
        // Most bytes of a long body keep the scan inside a string.
        if (state === json.string)
          while (at + 1 < until && json.grammar[inString + (text[at + 1] ?? 0)] === state) at++;
        continue;
      }
      if (next === json.refuse) return state === json.start ? mustBeObject : notJson;
      const done = this.#do(next, at);
      if (typeof done !== "number") return done;
      state = done;
    }
    this.#state = state;
    this.#at = until;
    if (until < text.length) return undefined;
    if (state === json.end) return this.#found;
    return state === json.start ? mustBeObject : notJson;
  }

  /** Does an action and returns the next state. */
  #do(action: number, at: number): number | Fault {
    switch (action) {
      case json.beginName:
        this.#isInName = true;
        this.#nameFrom = at;
        return json.string;
      case json.endString:
        if (!this.#isInName) return json.after;
        this.#isInName = false;
        return this.#depth === 1 ? this.#beginMember(at + 1) : json.colon;
      case json.passColon:
        if (this.#depth === 1) this.#from = at + 1;
        return json.value;
      case json.openArray:
        return this.#open(json.closeArray, json.firstValue);
      case json.openObject:
        return this.#open(json.closeObject, json.firstName);
      case json.passComma:
        this.#endMember(at);
        return this.#closing[this.#depth - 1] === json.closeObject ? json.name : json.value;
      default:
        if (this.#closing[this.#depth - 1] !== action) return notJson;
        this.#endMember(at);
        return --this.#depth === 0 ? json.end : json.after;
    }
  }

  #open(closes: number, state: number): number | Fault {
    if (this.#depth === this.#closing.length) return tooDeep(this.#closing.length);
    this.#closing[this.#depth++] = closes;
    return state;
  }

  #beginMember(nameTo: number): number | Fault {
    if (++this.#members > membersMax) return tooManyMembers;
    this.#name = nameAt(this.#bytes, { from: this.#nameFrom, to: nameTo });
    return json.colon;
  }

  #endMember(to: number): void {
    if (this.#depth !== 1 || this.#name === undefined || !this.#names.has(this.#name)) return;
    this.#found.set(this.#name, {
      ...trimmed(this.#text, { from: this.#from, to }),
      ...(this.#found.has(this.#name) && { isRepeated: true }),
    });
  }
}

const mustBeObject = fault("malformed", "body: must be an object");
const tooManyMembers = fault("malformed", `body: must hold at most ${membersMax} fields`);

/** A longer spelling cannot be one of the wanted names. */
const nameBytesMax = 256;

function nameAt(text: Buffer, { from, to }: Span): string | undefined {
  if (to - from > nameBytesMax) return undefined;
  const said = text.toString("utf8", from, to);
  return said.includes("\\") ? String(JSON.parse(said)) : said.slice(1, -1);
}
