import { readFile } from "node:fs/promises";
import { Argument, type Command } from "commander";
import { resolveBuiltFile } from "../../../worker/built-file.ts";
import type { RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { COMPLETION_FILES, type Shell } from "../shell-completions.ts";

export function configureCompletionCommand(command: Command, runAction: RunAction): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(COMPLETION_FILES)))
    .addHelpText(
      "after",
      `
Examples:
  $ source <(holdfast completion bash)        # in ~/.bashrc
  $ source <(holdfast completion zsh)         # in ~/.zshrc, after compinit
  $ holdfast completion fish | source         # in ~/.config/fish/config.fish`,
    )
    .action(async (shell: Shell) =>
      runAction(async (context) => {
        // `npm run build` generates it from the table of commands.
        const script = resolveBuiltFile(`shell/${COMPLETION_FILES[shell]}`);
        context.print((await readFile(script, "utf8")).trimEnd());
        return EXIT.ok;
      }),
    );
}
