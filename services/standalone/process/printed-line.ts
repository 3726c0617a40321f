/** Formats a line beside the log of a development server: `14:03:07.123  caught  POST /hello  …`. */
export const printedLine = (at: number, word: string, parts: readonly string[]): string =>
  [new Date(at).toISOString().slice(11, 23), word, ...parts].join("  ");

const shownLengthMax = 200;

/** Makes text of other programs printable on one line. */
export const visible = (text: string): string =>
  text.slice(0, shownLengthMax).replace(/[^\x20-\x7e]/g, "?");
