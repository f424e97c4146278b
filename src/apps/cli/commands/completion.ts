import { readFile } from "node:fs/promises";
import { Argument, type Command } from "commander";
import { resolveBuiltFile } from "../../../worker/built-file.ts";
import type { CommandNode } from "../command-tree.ts";
import type { RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { formatCompletions, SHELLS, type Shell } from "../shell-completions.ts";

export function configureCompletionCommand(command: Command, runAction: RunAction): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
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
        // `npm run build` writes it, so that the shells of a user do not load all commands when they start.
        const tree = await readFile(resolveBuiltFile("commands.json"), "utf8");
        context.print(formatCompletions(shell, JSON.parse(tree) as CommandNode).trimEnd());
        return EXIT.ok;
      }),
    );
}
