import type { Command } from "commander";
import type { Exploration, ExploredBranch } from "../../client/index.ts";
import { agentFromFile } from "../agent-file.ts";
import { branchRows, ContestBoard } from "../contest-board.ts";
import type { Context } from "../context.ts";
import { EXIT, EXIT_OF_OUTCOME } from "../exit-codes.ts";
import { onInterrupts } from "../interrupts.ts";
import { type LimitFlags, limitOptions, limitsFrom } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { printable } from "../palette.ts";
import { type PlaceFlags, placeFrom, placeOptions } from "../place-flags.ts";
import { table } from "../table.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { surroundingsOf, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = PlaceFlags &
  LimitFlags &
  UntrustedFlag & { readonly prompt?: readonly string[]; readonly agent?: readonly string[] };

export function exploreCommand(program: Command, act: Act): void {
  const command = program
    .command("explore")
    .description("Try several ways from one place of a session side by side; all are kept, none is chosen")
    .argument("<session>", "the session's id");
  placeOptions(command, {
    turn: "in place of this turn: from what the model saw then",
    loop: "in place of this loop",
  })
    .option("-p, --prompt <text>", "what one branch is asked; once for each branch", collect)
    .option("-a, --agent <file>", "an agent file, or FILE#NAME, of one branch; one alone is for all", collect)
    .option(...UNTRUSTED);
  limitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast explore 5f0c… -p "Fix it in the parser" -p "Fix it in the caller"
  $ holdfast explore 5f0c… --turn 3 -a small.toml -a large.toml --max-cost 2

Each branch is a branch of the session: \`holdfast run TASK --session 5f0c… --branch ID\` goes on with the one you like.
The session's head stays where it is. Files are not forked: agents that work in one folder meet there.
Ctrl-C stops all branches.`,
    )
    .action(async (session: string, flags: Flags) => act((context) => explore(context, session, flags)));
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function explore(context: Context, session: string, flags: Flags): Promise<number> {
  const branches = branchesFrom(context, flags);
  noticeOfTrust(context, flags);
  const limits = limitsFrom(flags);
  const stack = await openStack(context);
  try {
    const exploration = await stack.holdfast.session(session).explore(branches, {
      ...placeFrom(flags),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    return await follow(context, exploration);
  } finally {
    await stack.close();
  }
}

/** One of a kind goes with all of the other. */
function branchesFrom(context: Context, flags: Flags): readonly ExploredBranch[] {
  const { prompt = [], agent = [] } = flags;
  const count = Math.max(prompt.length, agent.length);
  if (count === 0)
    throw new UsageError("Say what to try: --prompt TEXT or --agent FILE, once for each branch.");
  const fits = [prompt, agent].every(({ length }) => length <= 1 || length === count);
  if (!fits) {
    throw new UsageError(
      `${prompt.length} prompts and ${agent.length} agents do not go together: give one, or as many.`,
    );
  }
  const agents = agent.map((file) => agentFromFile(file, surroundingsOf(context, flags)).agent);
  return Array.from({ length: count }, (_, index) => {
    const [own, words] = [agents[index] ?? agents[0], prompt[index] ?? prompt[0]];
    return {
      ...(own === undefined ? {} : { agent: own }),
      ...(words === undefined ? {} : { prompt: words }),
    };
  });
}

async function follow(context: Context, exploration: Exploration): Promise<number> {
  const off = onInterrupts(
    context.streams.signals,
    () => {
      context.tell(context.err.yellow("\nStopping the branches …"));
      exploration
        .stop(undefined, "interrupted at the terminal")
        .catch((error: Error) => context.tell(error.message));
    },
    () => undefined,
  );
  const board = new ContestBoard();
  try {
    const ended = exploration.result();
    ended.catch(() => undefined);
    for await (const item of exploration.watch()) {
      if (context.json) context.printJson(item);
      const line = context.json ? undefined : board.say(item);
      if (line !== undefined) context.tell(context.err.dim(printable(line)));
    }
    const result = await ended;
    const exitCode = EXIT_OF_OUTCOME[result.outcome.type];
    if (context.json) context.printJson({ type: "result", ...result, exitCode });
    else {
      for (const row of table(branchRows(result.branches))) context.print(printable(row));
      const tone = exitCode === EXIT.ok ? context.err.dim : context.err.red;
      context.tell(tone(printable(`${result.decision.reason} · session ${result.session}`)));
    }
    return exitCode;
  } finally {
    off();
  }
}
