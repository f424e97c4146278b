import { CommanderError } from "commander";
import { HoldfastError } from "../../client/holdfast-error.ts";
import { AgentFileError } from "./agent-file-error.ts";
import type { Streams } from "./context.ts";
import { ERROR_EXIT_CODES, EXIT } from "./exit-codes.ts";
import { print, printJson } from "./output.ts";
import { createPalette } from "./palette.ts";
import { formatProblems } from "./problem-view.ts";
import { UsageError } from "./usage-error.ts";

/** Prints an error for the user, without the stack unless `HOLDFAST_DEBUG` is set, and returns the exit code. */
export function reportError(error: unknown, streams: Streams, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const code = getExitCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const facts = getErrorFacts(error);
    printJson(streams.stdout, { type: "error", message, ...facts, exitCode: code });
  }
  if (error instanceof AgentFileError) {
    print(
      streams.stderr,
      `${formatProblems(error.problems, createPalette(streams.stderr, streams.env)).join("\n")}\n`,
    );
  }
  print(streams.stderr, `holdfast: ${message}\n`);
  if (streams.env["HOLDFAST_DEBUG"] === "1" && error instanceof Error) {
    for (let at: unknown = error; at instanceof Error; at = at.cause) print(streams.stderr, `${at.stack}\n`);
  }
  return code;
}

function getErrorFacts(error: unknown): object {
  if (error instanceof AgentFileError) return { problems: error.problems };
  return error instanceof HoldfastError ? { code: error.code, ...error.facts } : {};
}

function getExitCode(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof HoldfastError ? ERROR_EXIT_CODES[error.code] : EXIT.failed;
}
