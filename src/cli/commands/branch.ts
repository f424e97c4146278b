import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { AgentDefinitionInput, BranchOptions } from "../../client/index.ts";
import { type AgentFlags, changesFrom, definitionFrom } from "../agent-flags.ts";
import type { Context } from "../context.ts";
import { detached, mustStay } from "../detach.ts";
import { type LimitFlags, limitOptions, limitsFrom } from "../limit-flags.ts";
import { openStack } from "../local-stack.ts";
import { type PlaceFlags, placeFrom, placeOptions } from "../place-flags.ts";
import { problemView } from "../problem-view.ts";
import { noticeOfTrust } from "../trust-notice.ts";
import { UNTRUSTED } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";
import { tellOfFiles } from "./fork.ts";
import { follow } from "./run.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = PlaceFlags &
  LimitFlags &
  Pick<
    AgentFlags,
    "agent" | "untrusted" | "model" | "baseUrl" | "prices" | "system" | "tools" | "workspace"
  > & {
    readonly prompt?: string;
    readonly detach?: boolean;
  };

export function branchCommand(program: Command, act: Act): void {
  const command = program
    .command("branch")
    .description(
      "Start again from a turn of the past, with another prompt, model or agent, on a branch of its own",
    )
    .argument("<session>", "the session's id");
  placeOptions(command, {
    turn: "in place of this turn: from what the model saw then",
    loop: "in place of this loop",
  })
    .option(
      "-p, --prompt <text>",
      'what to ask there; "-" reads it from standard input (default: the model is asked again)',
    )
    .option("-a, --agent <file>", "an agent file, or FILE#NAME, in place of the session's definition")
    .option(...UNTRUSTED)
    .option("-m, --model <name>", "another model, as run takes it")
    .option("--base-url <url>", "where its protocol is served, if not at the vendor")
    .option("--prices <in,out>", "dollars per million input and output tokens")
    .option("-s, --system <text>", "another system prompt, or @FILE")
    .option("-t, --tools <a,b>", 'other tools by name, or "none"')
    .option("-w, --workspace <dir>", "another folder to work in")
    .option("--detach", "start it and leave it to the server and its workers");
  limitOptions(command)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast show 5f0c… --turn 7 --as-sent
  $ holdfast branch 5f0c… --turn 7 --model openai/gpt-5
  $ holdfast branch 5f0c… --turn 7 --prompt "Look at the tests first"
  $ holdfast branch 5f0c… --at 12 --agent stricter.toml --detach

A prompt at a loop's first turn takes the place of what it was asked with. What came of the turn before stays in the
record. Files are not put back: name another folder with --workspace where that matters.`,
    )
    .action(async (session: string, flags: Flags) => act((context) => branch(context, session, flags)));
}

async function branch(context: Context, id: string, flags: Flags): Promise<number> {
  const prompt = flags.prompt === "-" ? await readAll(context.streams.stdin) : flags.prompt;
  if (prompt !== undefined && prompt.trim() === "") throw new UsageError("The prompt is empty.");
  const place = placeFrom(flags);
  if (Object.keys(place).length === 0) {
    throw new UsageError("Say where to begin: --turn N, --at POSITION, --loop ID or --branch ID.");
  }
  const limits = limitsFrom(flags);
  const agent = agentFrom(context, flags);
  const stack = await openStack(context);
  try {
    if (flags.detach === true) mustStay(stack);
    const session = await stack.holdfast.session(id).branch({
      ...place,
      ...agent,
      ...(prompt === undefined ? {} : { prompt }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    });
    if (!context.json) tellOfFiles(context, (agent.agent ?? agent.changes)?.workspace ?? "the workspace");
    return flags.detach === true ? detached(context, session) : await follow(context, stack, session, prompt);
  } finally {
    await stack.close();
  }
}

type Agent = Pick<BranchOptions, "agent" | "changes">;

function agentFrom(context: Context, flags: Flags): Agent {
  const surroundings = { cwd: process.cwd(), env: context.streams.env };
  if (flags.agent === undefined) {
    const changes: Partial<AgentDefinitionInput> = changesFrom(flags, surroundings);
    return Object.keys(changes).length === 0 ? {} : { changes };
  }
  const { agent: file, untrusted, model, baseUrl, prices, system, tools, workspace } = flags;
  const own = { agent: file, untrusted, model, baseUrl, prices, system, tools, workspace };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const { agent, warnings, problems } = definitionFrom(given, surroundings);
  noticeOfTrust(context, flags);
  for (const warning of warnings) context.tell(context.err.yellow(warning));
  for (const problem of problems) context.tell(problemView(problem, context.err).join("\n"));
  return { agent };
}
