import type { Command } from "commander";
import type { Context, RunAction } from "../context.ts";
import { addGitOptions } from "./git-flags.ts";

type Action<Arguments extends readonly unknown[]> = (context: Context, ...args: Arguments) => Promise<number>;

/** Adds the commands for git work. What they do is loaded with the one that was given. */
export function configureGitCommand(git: Command, runAction: RunAction): void {
  const add = <Arguments extends readonly unknown[]>(
    command: Command,
    load: () => Promise<Action<Arguments>>,
  ): void => {
    command.action(async (...args: unknown[]) =>
      runAction(async (context) => (await load())(context, ...(args.slice(0, -1) as unknown as Arguments))),
    );
  };
  git.addHelpText(
    "after",
    `
Examples:
  $ holdfast git review --base main
  $ holdfast git commit --preset conventional
  $ holdfast git pr --base main > pull-request.md
  $ holdfast git changelog --from v1.0 --to HEAD
  $ holdfast git blame src/queue.ts:40-52 "Why is this locked twice?"`,
  );
  add(configureReview(git), async () => (await import("./review.ts")).review);
  add(configureCommit(git), async () => (await import("./commit.ts")).commit);
  add(configurePr(git), async () => (await import("./documents.ts")).writePullRequest);
  add(configureChangelog(git), async () => (await import("./documents.ts")).writeChangelog);
  add(configureReleaseNotes(git), async () => (await import("./documents.ts")).writeReleaseNotes);
  add(configureBlame(git), async () => (await import("./blame.ts")).blame);
  const hook = git
    .command("hook")
    .description("Install or remove the hook that begins the messages of commits");
  add(configureHookInstall(hook), async () => (await import("./hook.ts")).installGitHook);
  add(configureHookRemove(hook), async () => (await import("./hook.ts")).removeGitHook);
  add(configureChat(git), async () => (await import("./chat.ts")).chat);
  add(configureResume(git), async () => (await import("./resume.ts")).resume);
  add(configureCapabilities(git), async () => (await import("./capabilities.ts")).showCapabilities);
}

function configureReview(git: Command): Command {
  const command = git
    .command("review")
    .description("Review a change, and report findings whose evidence has been checked")
    .option("--staged", "the staged changes (the default)")
    .option("--commit <commit>", "one commit")
    .option("--range <range>", "A..B, or A...B from where B has left A")
    .option("--base <branch>", "the commits since HEAD has left this branch")
    .option("--format <format>", "text, markdown, json or sarif", "text")
    .option(
      "--fail-on <severity>",
      "exit with 1 for findings this severe: critical, high, medium, low, info",
    );
  return addGitOptions(command).addHelpText(
    "after",
    `
Examples:
  $ holdfast git review
  $ holdfast git review --base main --fail-on high
  $ holdfast git review --range v1.0..HEAD --format sarif > review.sarif

A review is bound to the commits that its branches have when it begins. If a branch moves, the agent examines the
difference before anything is printed. Every hunk is accounted for, on standard error.`,
  );
}

function configureCommit(git: Command): Command {
  const command = git
    .command("commit")
    .description("Write the message of a commit from the staged changes")
    .option("--write", "make the commit, without hooks and signatures (default: print the message)")
    .option("--amend", "for the last commit together with what is staged")
    .option("--gitmoji", "begin the message with a gitmoji");
  return addGitOptions(command).addHelpText(
    "after",
    `
Examples:
  $ holdfast git commit
  $ holdfast git commit --preset conventional -i "mention the ticket ABC-12"
  $ holdfast git commit --write
  $ holdfast git commit -q | git commit -F -`,
  );
}

function configurePr(git: Command): Command {
  const command = git
    .command("pr")
    .description("Write the title and text of a pull request, as Markdown")
    .option("--base <branch>", "the branch to merge into (default: main or master)")
    .option("--range <range>", "A..B, or A...B");
  return addGitOptions(command).addHelpText(
    "after",
    "\nExamples:\n  $ holdfast git pr --base main\n  $ holdfast git pr -q > pull-request.md",
  );
}

function addRangeOptions(command: Command): Command {
  return command
    .requiredOption("--from <revision>", "where the range begins, such as the tag of the last release")
    .option("--to <revision>", "where it ends", "HEAD")
    .option("--version-name <text>", "the heading of the version");
}

function configureChangelog(git: Command): Command {
  const command = git
    .command("changelog")
    .description("Write the changelog entry of a range of commits")
    .option("--update <file>", "put the entry into this file (default: print it)");
  return addGitOptions(addRangeOptions(command)).addHelpText(
    "after",
    "\nExamples:\n  $ holdfast git changelog --from v1.0\n  $ holdfast git changelog --from v1.0 --to v1.1 --version-name 1.1 --update CHANGELOG.md",
  );
}

function configureReleaseNotes(git: Command): Command {
  const command = git
    .command("release-notes")
    .description("Write the release notes of a range of commits, for users");
  return addGitOptions(addRangeOptions(command)).addHelpText(
    "after",
    "\nExamples:\n  $ holdfast git release-notes --from v1.0 --to v1.1",
  );
}

function configureBlame(git: Command): Command {
  const command = git
    .command("blame")
    .description("Explain why lines of a file are as they are, from their history")
    .argument("<lines>", "FILE:LINE or FILE:FROM-TO, such as src/queue.ts:40-52")
    .argument("[question]", "what you want to know", "Why are these lines as they are?");
  return addGitOptions(command).addHelpText(
    "after",
    '\nExamples:\n  $ holdfast git blame src/queue.ts:40-52 "Why is this locked twice?"',
  );
}

function configureHookInstall(hook: Command): Command {
  return hook
    .command("install")
    .description("Install the hook prepare-commit-msg in a trusted repository")
    .option("--repo <dir>", "the repository (default: that of the current folder)")
    .option("--trust", "trust the repository")
    .option("-m, --model <name>", "the model that writes the messages")
    .option("--provider <name>", "anthropic, openai or google, for its newest models")
    .option("--base-url <url>", "the endpoint of the vendor's API")
    .option("--preset <name>", "the style of the messages")
    .option("--gitmoji", "begin messages with a gitmoji")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast git hook install --trust\n  $ holdfast git hook install --preset conventional",
    );
}

function configureHookRemove(hook: Command): Command {
  return hook
    .command("remove")
    .description("Remove the hook that Holdfast has installed")
    .option("--repo <dir>", "the repository (default: that of the current folder)")
    .option("--trust", "trust the repository")
    .addHelpText("after", "\nExamples:\n  $ holdfast git hook remove");
}

function configureChat(git: Command): Command {
  const command = git
    .command("chat")
    .description("Chat about the repository, and about what git work has made")
    .argument(
      "[session]",
      "the session to go on with: its id, its beginning, or `last` (default: a new one)",
    );
  return addGitOptions(command).addHelpText(
    "after",
    "\nExamples:\n  $ holdfast git chat\n  $ holdfast git chat last",
  );
}

function configureResume(git: Command): Command {
  return git
    .command("resume")
    .description("Go on with git work that was interrupted; what is done is not done again")
    .argument("[session]", "the session's id, its beginning, or `last`", "last")
    .option("--trust", "trust the repository")
    .option("-q, --quiet", "print only the result")
    .addHelpText("after", "\nExamples:\n  $ holdfast git resume\n  $ holdfast git resume 5f0c…");
}

function configureCapabilities(git: Command): Command {
  return git
    .command("capabilities")
    .description("List the capabilities, or print what the model will be told")
    .option("--show <name>", "print what the model will be told for this capability")
    .option("--repo <dir>", "the repository (default: that of the current folder)")
    .option("--preset <name>", "the style, for --show")
    .option("--gitmoji", "with the guide to gitmoji, for --show commit")
    .option("--trust", "trust the repository: its own capabilities apply")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast git capabilities\n  $ holdfast git capabilities --show review\n  $ holdfast git capabilities --json",
    );
}
