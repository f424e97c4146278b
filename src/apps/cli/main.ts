#!/usr/bin/env node
import "./hide-environment.ts";
import { EXIT } from "./exit-codes.ts";
import { flush } from "./output.ts";
import { main } from "./program.ts";
import { guardOutput } from "./standard-output.ts";

const { stdin, stdout, stderr, env } = process;
const output = guardOutput(stdout, stderr, () => process.exit(EXIT.ok));
const exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env, signals: process });
// Written output must reach a pipe before the process ends.
const exitAfterFlush = () =>
  process.exit(exitCode === EXIT.ok && output.getError() !== undefined ? EXIT.failed : exitCode);
// What could not be written is reported after the write that it came from.
flush(stdout, () => setImmediate(exitAfterFlush));
