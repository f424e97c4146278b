import type { Command } from "commander";
import type { Updated } from "../../client/index.ts";
import { agentFromFile } from "../agent-file.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../palette.ts";
import { problemView } from "../problem-view.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { surroundingsOf, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";

type Flags = UntrustedFlag & { readonly definition: string; readonly dryRun?: boolean };

export function updateCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("update")
    .description("Move a session to another definition: a run that is at work before its next turn")
    .argument("<session>", "the session's id")
    .requiredOption("--definition <file>", "an agent file, or FILE#NAME where it holds several")
    .option(...UNTRUSTED)
    .option("--dry-run", "say what it would change, and change nothing")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast update 5f0c… --definition agent.toml --dry-run
  $ holdfast update 5f0c… --definition agents.toml#reviewer

What was spent, what a person has allowed and the conversation stay. \`holdfast show SESSION --events\` has what came of it.`,
    )
    .action(async (session: string, flags: Flags) => act((context) => update(context, session, flags)));
}

async function update(context: Context, session: string, flags: Flags): Promise<number> {
  const { definition, dryRun } = flags;
  const { agent, problems } = agentFromFile(definition, surroundingsOf(context, flags));
  noticeOfTrust(context, { ...flags, agent: definition });
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  return withHoldfast(context, async (holdfast) => {
    const updated = await holdfast.update(session, agent, dryRun === true ? { dryRun } : {});
    if (context.json) context.printJson({ type: "update", ...updated });
    else for (const line of linesOf(updated, context.out)) context.print(line);
    return EXIT.ok;
  });
}

const WHEN = {
  "next-turn": "next turn",
  now: "now",
  "next-run": "next run",
  unchanged: "",
} as const satisfies Record<Updated["takesEffect"], string>;

const END = {
  "next-turn": "taken: the run is moved before its next turn",
  now: "moved: the next prompt is answered with it",
  "next-run": "taken: the session is at rest, its next run has it",
  unchanged: "nothing to do: the session has this definition already",
} as const satisfies Record<Updated["takesEffect"], string>;

/** A row for each field that is another one, with when that counts. */
function linesOf(updated: Updated, paint: Context["out"]): readonly string[] {
  const { changes, warnings, takesEffect, dryRun, from } = updated;
  const rows = changes.map(
    ({ field, said, takesEffect: when }) =>
      [
        field,
        printable(said),
        when === "next-loop" && takesEffect === "next-turn" ? "next loop" : WHEN[takesEffect],
      ] as const,
  );
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => (row[column] ?? "").length)));
  const table = rows.map(
    ([field, said, when]) =>
      `${field.padEnd(widths[0] ?? 0)}  ${said.padEnd(widths[1] ?? 0)}  ${paint.dim(when)}`,
  );
  const unknown = from === undefined ? ["what it changes is not known yet: its first loop is opening"] : [];
  const would = dryRun && takesEffect !== "unchanged" ? `nothing was changed (--dry-run)` : END[takesEffect];
  return [...table, ...unknown, ...warnings.map((one) => paint.yellow(`warning: ${printable(one)}`)), would];
}
