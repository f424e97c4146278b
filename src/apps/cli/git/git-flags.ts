import type { Command } from "commander";
import type { GitSettings, RunPlan } from "../../git/index.ts";
import { addLimitOptions, type LimitFlags, parseLimits } from "../limit-flags.ts";
import { parsePositiveNumber, parseWholeNumber } from "../parse-number.ts";

/** The options of every command that asks a model. */
export type GitFlags = LimitFlags & {
  readonly repo?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly subagentModel?: string;
  readonly subagentTurns?: string;
  readonly subagentTimeout?: string;
  readonly baseUrl?: string;
  readonly preset?: string;
  readonly gitmoji?: boolean;
  readonly critic?: boolean;
  readonly instructions?: string;
  readonly trust?: boolean;
  readonly session?: string;
  readonly quiet?: boolean;
};

export function addGitOptions(command: Command): Command {
  command
    .option("--repo <dir>", "the repository (default: that of the current folder)")
    .option("-i, --instructions <text>", "what the agent should mind, in your words")
    .option("-m, --model <name>", "the model (default: the newest one of the vendor whose key is set)")
    .option("--provider <name>", "anthropic, openai or google, for its newest models")
    .option("--subagent-model <name>", '"fast" (the default), "main", or the name of a model')
    .option("--subagent-turns <n>", "the turns of a sub-agent, 1 to 100 (default: 20)")
    .option("--subagent-timeout <seconds>", "the time of a sub-agent (default: 120)")
    .option("--base-url <url>", "the endpoint of the vendor's API (default: the vendor's)")
    .option("--preset <name>", "the style of texts, such as conventional, concise or detailed")
    .option("--critic", "have a critic judge the result")
    .option("--no-critic", "do without the critic")
    .option("--trust", "trust the repository: its linters may run, its capabilities and settings apply")
    .option("--session <id>", "the id of the session (default: a new one)")
    .option("-q, --quiet", "print only the result");
  return addLimitOptions(command);
}

/** Merges options over settings into the parts of a plan. */
export function readGitFlags(
  flags: GitFlags,
  settings: GitSettings,
): Pick<RunPlan, "models" | "style" | "subAgents" | "limits"> {
  const { subagent_max_turns: turns, subagent_timeout_secs: seconds } = settings;
  const given = flags.model !== undefined || flags.provider !== undefined;
  return {
    models: {
      model: given ? flags.model : settings.model,
      provider: given ? flags.provider : settings.provider,
      subagentModel: flags.subagentModel ?? settings.subagent_model,
      baseUrl: flags.baseUrl,
    },
    style: { preset: flags.preset ?? settings.preset, gitmoji: flags.gitmoji ?? settings.gitmoji },
    subAgents: {
      maxTurns:
        flags.subagentTurns === undefined ? turns : parseWholeNumber("--subagent-turns", flags.subagentTurns),
      timeoutMs: toMilliseconds(
        flags.subagentTimeout === undefined
          ? seconds
          : parsePositiveNumber("--subagent-timeout", flags.subagentTimeout),
      ),
    },
    limits: parseLimits(flags),
  };
}

function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
