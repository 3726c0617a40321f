/**
 * The grammar of JSON (RFC 8259) as a table: the effect of a byte in a state, which is another state or an action.
 * The reader of the text knows which arrays and objects are open, and so what follows a comma or the end of a string.
 * A state holds all that is known of a value that has begun, so reading may stop after any byte.
 */
const names = [
  ...["start", "end", "value", "firstValue", "name", "firstName", "colon", "after"],
  ...["string", "escape", "u", "u1", "u2", "u3"],
  ...["minus", "zero", "digits", "dot", "fraction", "e", "sign", "exponent"],
  ...["t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul"],
];
const stateOf = (name: string): number => names.indexOf(name);

export const start = stateOf("start");
export const end = stateOf("end");
export const value = stateOf("value");
export const firstValue = stateOf("firstValue");
export const name = stateOf("name");
export const firstName = stateOf("firstName");
export const colon = stateOf("colon");
export const after = stateOf("after");
export const string = stateOf("string");

/** Numbers from here on are actions, not states. */
export const somethingToDo = 0x80;
export const refuse = 0x80;
export const beginName = 0x81;
export const endString = 0x82;
export const passColon = 0x83;
export const openArray = 0x84;
export const openObject = 0x85;
export const closeArray = 0x86;
export const closeObject = 0x87;
export const passComma = 0x88;

/** Indexed by a state's number times 256, plus a byte. */
export const grammar = new Uint8Array(names.length * 256).fill(refuse);

function on(states: string, bytes: string | Uint8Array, to: string | number): void {
  for (const state of states.split(" "))
    for (const byte of Buffer.from(bytes))
      grammar[stateOf(state) * 256 + byte] = typeof to === "number" ? to : stateOf(to);
}

const space = " \n\r\t";
const digit = "0123456789";
const hexDigit = `${digit}abcdefABCDEF`;

for (const state of names.slice(start, after + 1)) on(state, space, state);
on("start", "{", openObject);
on("firstName name", '"', beginName);
on("firstName", "}", closeObject);
on("colon", ":", passColon);

on("value firstValue", "{", openObject);
on("value firstValue", "[", openArray);
on("value firstValue", '"', "string");
on("firstValue", "]", closeArray);

on(
  "string",
  Uint8Array.from({ length: 256 - 0x20 }, (_, i) => 0x20 + i),
  "string",
);
on("string", '"', endString);
on("string", "\\", "escape");
on("escape", '"\\/bfnrt', "string");
on("escape", "u", "u");
on("u", hexDigit, "u1");
on("u1", hexDigit, "u2");
on("u2", hexDigit, "u3");
on("u3", hexDigit, "string");

on("value firstValue", "-", "minus");
on("value firstValue minus", "0", "zero");
on("value firstValue minus", "123456789", "digits");
on("digits", digit, "digits");
on("zero digits", ".", "dot");
on("dot fraction", digit, "fraction");
on("zero digits fraction", "eE", "e");
on("e", "+-", "sign");
on("e sign exponent", digit, "exponent");

for (const literal of ["true", "false", "null"])
  for (let i = 0; i < literal.length; i++) {
    const next = i + 1 < literal.length ? literal.slice(0, i + 1) : "after";
    on(i === 0 ? "value firstValue" : literal.slice(0, i), literal.charAt(i), next);
  }

// The byte after a number ends it.
const ended = "after zero digits fraction exponent";
on(ended, space, "after");
on(ended, ",", passComma);
on(ended, "]", closeArray);
on(ended, "}", closeObject);
