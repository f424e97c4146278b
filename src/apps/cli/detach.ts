import type { Session } from "../../client/index.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import type { LocalStack } from "./local-stack.ts";
import { UsageError } from "./usage-error.ts";

/** Rejects a detached run whose server or worker this command started: both would end with the command. */
export function assertDetachable({ started }: LocalStack): void {
  if (started.length === 0) return;
  throw new UsageError(
    `--detach needs a ${started.join(" and a ")} that keeps running. Start them with \`holdfast dev\` in another terminal.`,
  );
}

export function reportDetached(context: Context, { id, runId }: Session): number {
  if (context.json) context.printJson({ type: "started", session: id, runId });
  else {
    context.print(id);
    context.report(context.err.dim(`To inspect it: \`holdfast status ${id}\` and \`holdfast show ${id}\`.`));
  }
  return EXIT.ok;
}
