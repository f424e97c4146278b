import type { Command } from "commander";
import type { UpdateResult } from "../../../client/index.ts";
import { loadAgentFile } from "../agent-file.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { stripControls } from "../palette.ts";
import { formatProblem } from "../problem-view.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { readTrust, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";

type Flags = UntrustedFlag & { readonly agent: string; readonly dryRun?: boolean };

export function configureUpdateCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .requiredOption("-a, --agent <file>", "an agent file, or FILE#NAME if the file defines several agents")
    .option(...UNTRUSTED)
    .option("--dry-run", "list the changes without applying them")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast update 5f0c… --agent agent.toml --dry-run
  $ holdfast update 5f0c… --agent agents.toml#reviewer

Costs, granted approvals and the conversation stay. \`holdfast show SESSION --events\` lists the result.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) => updateSession(context, session, flags)),
    );
}

async function updateSession(context: Context, reference: string, flags: Flags): Promise<number> {
  const { dryRun } = flags;
  const { agent, problems } = loadAgentFile(flags.agent, readTrust(context, flags));
  showTrustNotice(context, flags);
  for (const problem of problems) context.report(formatProblem(problem, context.err).join("\n"));
  return withSession(context, reference, async (holdfast, session) => {
    const updated = await holdfast.session(session).update(agent, dryRun === true ? { dryRun } : {});
    if (context.json) context.printJson({ type: "update", ...updated });
    else for (const line of formatUpdate(updated, context.out)) context.print(line);
    return EXIT.ok;
  });
}

const WHEN_LABELS = {
  "next-turn": "next turn",
  now: "now",
  "next-run": "next run",
  unchanged: "",
} as const satisfies Record<UpdateResult["takesEffect"], string>;

const RESULT_LABELS = {
  "next-turn": "accepted: the run changes before its next turn",
  now: "changed: the session answers its next prompt with this definition",
  "next-run": "accepted: the session is idle; its next run uses this definition",
  unchanged: "nothing to do: the session already has this definition",
} as const satisfies Record<UpdateResult["takesEffect"], string>;

/** Formats one row for each changed field, with when the change takes effect. */
function formatUpdate(result: UpdateResult, paint: Context["out"]): readonly string[] {
  const { changes, warnings, takesEffect, dryRun, from } = result;
  const rows = changes.map(
    ({ field, description, takesEffect: when }) =>
      [
        field,
        stripControls(description),
        when === "next-loop" && takesEffect === "next-turn" ? "next loop" : WHEN_LABELS[takesEffect],
      ] as const,
  );
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => (row[column] ?? "").length)));
  const table = rows.map(
    ([field, said, when]) =>
      `${field.padEnd(widths[0] ?? 0)}  ${said.padEnd(widths[1] ?? 0)}  ${paint.dim(when)}`,
  );
  const unknown =
    from === undefined ? ["the changes are not yet known: the session's first loop is opening"] : [];
  const would =
    dryRun && takesEffect !== "unchanged" ? `nothing was changed (--dry-run)` : RESULT_LABELS[takesEffect];
  return [
    ...table,
    ...unknown,
    ...warnings.map((one) => paint.yellow(`warning: ${stripControls(one)}`)),
    would,
  ];
}
