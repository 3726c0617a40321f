export type Asked = {
  readonly command: "stack" | "stores" | "fetch";
  /** The file to write the stores' addresses to when they are ready. */
  readonly file?: string;
  /** Ends the stack when standard input ends, for a parent that may die. */
  readonly untilStdinEnds: boolean;
};

const usage = `usage: npm run stack                     the stores and the six services
       npm run stack -- stores           the stores only
       npm run stack -- fetch            fetch what they need, start nothing
  --file F             stores: write their addresses to F as JSON
  --until-stdin-ends   end when the standard input does`;

/** Throws the usage for arguments that it does not understand. */
export function parseArguments(args: readonly string[]): Asked {
  const left = [...args];
  let command: Asked["command"] | undefined;
  let file: string | undefined;
  let untilStdinEnds = false;
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    if (argument === "--until-stdin-ends") untilStdinEnds = true;
    else if (argument === "--file" && left.length > 0) file = left.shift();
    else if ((argument === "stores" || argument === "fetch") && command === undefined)
      command = argument;
    else throw new Error(`${argument} is not understood\n${usage}`);
  }
  const isComplete = file === undefined || command === "stores";
  if (!isComplete) throw new Error(`--file goes with stores\n${usage}`);
  const asked = { command: command ?? "stack", untilStdinEnds };
  return file === undefined ? asked : { ...asked, file };
}
