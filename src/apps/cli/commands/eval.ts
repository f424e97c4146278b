import type { Command } from "commander";
import type { RunAction } from "../context.ts";
import { configureCacheCommand } from "../suites/answer-cache.ts";
import { configureControlCommands, configureWatchCommands } from "../suites/control-suite.ts";
import { configureExportSuiteCommand } from "../suites/export-suite.ts";
import { configureStoredRunCommands } from "../suites/list-suites.ts";
import { configureRunSuiteCommand } from "../suites/run-suite.ts";
import { configureCellCommands } from "../suites/show-suite.ts";

/** Adds the commands for suites: cases that are given to agents, and whose answers are scored. */
export function configureEvalCommand(command: Command, runAction: RunAction): void {
  command.addHelpText(
    "after",
    `
Examples:
  $ holdfast eval run suite.toml
  $ holdfast eval status last
  $ holdfast eval show last --state failed
  $ holdfast eval compare 5f0c… last
  $ holdfast eval export last --csv > cells.csv

A suite file names agents, cases and scorers. Each combination of a case, a configuration and a repetition is a cell.`,
  );
  configureRunSuiteCommand(
    command.command("run").description("Run a suite, watch it until it ends, and print its scores"),
    runAction,
  );
  configureWatchCommands(command, runAction);
  configureControlCommands(command, runAction);
  configureStoredRunCommands(command, runAction);
  configureCellCommands(command, runAction);
  configureExportSuiteCommand(command.command("export"), runAction);
  configureCacheCommand(command.command("cache"), runAction);
}
