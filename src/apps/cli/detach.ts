import type { Session } from "../../client/index.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import type { LocalStack } from "./local-stack.ts";
import { UsageError } from "./usage-error.ts";

/** A detached run would be left without the server and the worker that were started for it. */
export function assertDetachable({ own }: LocalStack): void {
  if (own.length === 0) return;
  throw new UsageError(
    `--detach needs a ${own.join(" and a ")} that stays. Start them with \`holdfast dev\` in another terminal.`,
  );
}

export function reportDetached(context: Context, { id, runId }: Session): number {
  if (context.json) context.printJson({ type: "started", session: id, runId });
  else {
    context.print(id);
    context.report(context.err.dim(`Look at it with \`holdfast status ${id}\` and \`holdfast show ${id}\`.`));
  }
  return EXIT.ok;
}
