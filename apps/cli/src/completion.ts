/** Completes words in shells, from the program's own commands and options. */
import { type Command } from "commander";
import { CliError } from "./exit.ts";
import { type Acting } from "./session.ts";

const scripts = {
  bash: `_posthaste() {
  COMPREPLY=($(compgen -W "$(posthaste completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _posthaste posthaste
`,
  zsh: `#compdef posthaste
_posthaste() { compadd -- $(posthaste completion words -- "\${(@)words[2,CURRENT-1]}") }
compdef _posthaste posthaste
`,
  fish: `complete -c posthaste -f -a "(posthaste completion words -- (commandline -opc)[2..-1])"
`,
} as const;

export function addCompletion(program: Command, acting: Acting): void {
  program
    .command("completion <shell> [words...]")
    .description("print a script for bash, zsh or fish: source <(posthaste completion bash)")
    .action(
      acting(async ({ output }, [shell = "", ...words]) => {
        if (shell === "words") return output.raw(`${wordsAfter(program, words).join("\n")}\n`);
        const script = Object.entries(scripts).find(([name]) => name === shell)?.[1];
        if (script === undefined)
          throw new CliError("usage", `${shell}: must be bash, zsh or fish`);
        output.raw(script);
      }),
    );
}

export function wordsAfter(program: Command, words: readonly string[]): readonly string[] {
  let at = program;
  for (const word of words) at = at.commands.find((each) => each.name() === word) ?? at;
  const options = [...at.options, ...program.options].flatMap(({ long }) => long ?? []);
  return [...at.commands.map((each) => each.name()), ...new Set(options)];
}
