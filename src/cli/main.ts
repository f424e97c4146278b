#!/usr/bin/env node
import "./hidden-environment.ts";
import { flush } from "./output.ts";
import { main } from "./program.ts";

// A reader that has left, as in `holdfast show … | head`, is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const { stdin, stdout, stderr, env } = process;
const exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env, signals: process });
// Written output must reach a pipe before the process ends.
flush(stdout, () => process.exit(exitCode));
