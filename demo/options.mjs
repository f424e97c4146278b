import { parseArgs } from "node:util";

export const HELP = `npm run demo [-- OPTIONS]

An agent repairs a small project on a real Temporal server. The demo kills its worker twice with SIGKILL: in the middle of
a model's answer, and in the middle of a shell command. Then it counts what the kills cost.

  --model NAME   the same job with a vendor's model, such as anthropic/claude-sonnet-4-5; costs a few cents.
                 Without it, a scripted model answers over HTTP from its own process
  --keep         keep server and worker running until Ctrl-C, so that you can inspect the run in the Temporal UI
  --json         progress goes to standard error; the last line of standard output is one JSON object
  --help         this text

Examples:
  npm run demo
  npm run demo -- --keep
  npm run --silent demo -- --json | tail -n 1
  ANTHROPIC_API_KEY=sk-ant-... npm run demo -- --model anthropic/claude-sonnet-4-5

Exit code: 0 everything is as promised, 1 not everything is, 2 bad arguments, 130 after Ctrl-C.
`;

/** Thrown for bad arguments. */
export class UsageError extends Error {}

export function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        model: { type: "string" },
        keep: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}
