import type { Command } from "commander";
import type { RetentionRule } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { parseWholeNumber } from "../parse-number.ts";
import { UsageError } from "../usage-error.ts";

type SetFlags = {
  readonly agent?: string;
  readonly age?: string;
  readonly count?: string;
  readonly bytes?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly off?: boolean;
};

export function configureRetentionCommand(retention: Command, runAction: RunAction): void {
  retention.addHelpText(
    "after",
    `
Examples:
  $ holdfast retention set --age 90
  $ holdfast retention set --agent ci --age 7 --count 200
  $ holdfast retention run --dry-run
  $ holdfast retention show
  $ holdfast keep 5f0c…`,
  );
  retention
    .command("set")
    .description("Set the rule for all agents, or for one agent; other rules do not change")
    .option("--agent <name>", "only for this agent's sessions")
    .option("--age <days>", "delete sessions that were inactive for longer than this")
    .option("--count <n>", "retain at most this many sessions, the newest")
    .option("--bytes <n>", "retain the newest sessions whose messages together have at most this many bytes")
    .option("--cron <expression>", "when the rules are applied (default: 30 3 * * *)")
    .option("--time-zone <name>", "the time zone of --cron (default: UTC)")
    .option("--off", "remove the rule")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast retention set --age 90
  $ holdfast retention set --agent ci --age 7 --count 200
  $ holdfast retention set --agent ci --off`,
    )
    .action(async (flags: SetFlags) => runAction((context) => setRule(context, flags)));
  retention
    .command("show")
    .description("List the rules")
    .addHelpText("after", "\nExamples:\n  $ holdfast retention show\n  $ holdfast retention show --json")
    .action(async () => runAction(showPolicy));
  retention
    .command("run")
    .description("Apply the rules now")
    .option("--dry-run", "only list what would be deleted")
    .addHelpText("after", "\nExamples:\n  $ holdfast retention run --dry-run\n  $ holdfast retention run")
    .action(async ({ dryRun = false }: { readonly dryRun?: boolean }) =>
      runAction((context) => runRetention(context, dryRun)),
    );
}

export function configureKeepCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--off", "apply the rules to it again")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast keep 5f0c…
  $ holdfast keep 5f0c… --off`,
    )
    .action(async (reference: string, { off = false }: { readonly off?: boolean }) =>
      runAction(async (context) =>
        withSession(context, reference, async (holdfast, session) => {
          await holdfast.retention.setRetained(session, !off);
          if (context.json) context.printJson({ type: "retained", session, retained: !off });
          else
            context.report(
              off
                ? "The retention rules apply to the session."
                : "The session is exempt from the retention rules.",
            );
          return EXIT.ok;
        }),
      ),
    );
}

async function setRule(context: Context, flags: SetFlags): Promise<number> {
  const rule = parseRule(flags);
  return withHoldfast(context, async (holdfast) => {
    const state = await holdfast.retention.get();
    const others = (state?.policy.rules ?? []).filter(({ agent }) => agent !== flags.agent);
    const rules = rule === undefined ? others : [...others, rule];
    if (rules.length === 0) await holdfast.retention.remove();
    else {
      const cron = flags.cron ?? state?.cron;
      await holdfast.retention.set(
        { rules },
        {
          ...omitUndefined({ cron, timeZone: flags.timeZone }),
        },
      );
    }
    return showPolicy(context);
  });
}

function parseRule({ agent, age, count, bytes, off = false }: SetFlags): RetentionRule | undefined {
  if (off) return undefined;
  if (age === undefined && count === undefined && bytes === undefined) {
    throw new UsageError(
      "No rule is given. Specify --age, --count or --bytes, or remove the rule with --off.",
    );
  }
  return {
    ...omitUndefined({ agent }),
    ...(age === undefined ? {} : { maxAgeDays: parseWholeNumber("--age", age) }),
    ...(count === undefined ? {} : { maxSessions: parseWholeNumber("--count", count) }),
    ...(bytes === undefined ? {} : { maxBytes: parseWholeNumber("--bytes", bytes) }),
  };
}

async function showPolicy(context: Context): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const state = await holdfast.retention.get();
    if (context.json) context.printJson({ type: "retention", ...(state ?? { policy: { rules: [] } }) });
    else if (state === undefined) context.report("No retention rules are set: every session is retained.");
    else {
      for (const rule of state.policy.rules) context.print(formatRule(rule));
      const next = state.nextAt === undefined ? "" : `, next ${state.nextAt.toISOString().slice(0, 16)}`;
      context.report(`Applied at ${state.cron ?? "?"}${state.paused ? ", paused" : next}.`);
    }
    return EXIT.ok;
  });
}

function formatRule({ agent, maxAgeDays, maxSessions, maxBytes }: RetentionRule): string {
  const limits = [
    ...(maxAgeDays === undefined ? [] : [`${maxAgeDays} days`]),
    ...(maxSessions === undefined ? [] : [`the newest ${maxSessions}`]),
    ...(maxBytes === undefined ? [] : [`${maxBytes} bytes`]),
  ];
  return `${agent ?? "all agents"}: ${limits.join(", ")}`;
}

async function runRetention(context: Context, dryRun: boolean): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const result = await holdfast.retention.run({ dryRun });
    if (context.json) context.printJson({ type: dryRun ? "would-delete" : "retention-run", ...result });
    else {
      for (const { session, reason } of result.sessions) context.print(`${session}  ${reason}`);
      const verb = dryRun ? "would be deleted" : "are deleted";
      context.report(
        `${result.deleted} of ${result.examined} sessions ${verb}; ${result.retained} are still needed.`,
      );
    }
    return EXIT.ok;
  });
}
