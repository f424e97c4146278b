#!/usr/bin/env node
import "./hide-environment.ts";
import "./hide-warnings.ts";
import { EXIT } from "./exit-codes.ts";
import { flush } from "./output.ts";
import { main } from "./program.ts";
import { guardOutput } from "./standard-output.ts";

const { stdin, stdout, stderr, env } = process;
const output = guardOutput(stdout, stderr, () => process.exit(EXIT.ok));
const exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env, signals: process });
// The process exits only after its output has reached the pipe.
const exitAfterFlush = () =>
  process.exit(exitCode === EXIT.ok && output.getError() !== undefined ? EXIT.failed : exitCode);
// A failed write reports its error after its callback.
flush(stdout, () => setImmediate(exitAfterFlush));
