import {
  type Capabilities,
  chooseModels,
  defineGitAgent,
  findCapability,
  loadGitCapabilities,
  loadStyles,
} from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { formatProblem } from "../problem-view.ts";
import { formatTable } from "../table.ts";
import { UsageError } from "../usage-error.ts";
import type { GitFlags } from "./git-flags.ts";
import { type GitSite, openSite } from "./open-git.ts";

type Flags = Pick<GitFlags, "repo" | "trust" | "preset" | "gitmoji"> & { readonly show?: string };

/** Lists the capabilities, or prints what the model will be told for one. */
export async function showCapabilities(context: Context, flags: Flags): Promise<number> {
  const site = await openSite(context, flags);
  const { home, isTrusted, repository } = site;
  const loaded = loadGitCapabilities(home, isTrusted ? repository : undefined);
  if (flags.show !== undefined) return showCapability(site, loaded, flags.show, flags);
  const all = [...loaded.capabilities.values()];
  if (context.json) for (const one of all) context.printJson({ type: "capability", ...one });
  else {
    const rows = all
      .filter(({ isInternal }) => !isInternal)
      .map(({ name, origin, critic, description }) => [name, origin, critic, description]);
    for (const line of formatTable([["NAME", "FROM", "CRITIC", "DESCRIPTION"], ...rows])) context.print(line);
  }
  for (const problem of loaded.problems) context.report(formatProblem(problem, context.err).join("\n"));
  return loaded.problems.some(({ severity }) => severity === "error") ? EXIT.failed : EXIT.ok;
}

/** Prints the definition that a run of a capability has; of its models only what every vendor's has. */
function showCapability(
  { context, repository }: GitSite,
  loaded: Capabilities,
  name: string,
  { preset, gitmoji }: Flags,
): number {
  if (!loaded.capabilities.has(name)) {
    const names = [...loaded.capabilities.keys()].join(", ");
    throw new UsageError(`There is no capability "${name}". The capabilities are ${names}.`);
  }
  const capability = findCapability(loaded, name);
  const definition = defineGitAgent({
    capability,
    models: chooseModels({ provider: "anthropic", env: {} }),
    style: { preset, gitmoji },
    styles: loadStyles(),
    workspace: repository,
  });
  const { systemPrompt = "", tools = [], subAgents = [], output } = definition;
  if (context.json) {
    context.printJson({ type: "capability", ...capability, systemPrompt, tools, subAgents, output });
    return EXIT.ok;
  }
  context.print(systemPrompt);
  context.print(`\nTools: ${tools.join(", ")}`);
  for (const { name: tool, description = "", agent } of subAgents)
    context.print(`\nSub-agent ${tool}: ${description}\n\n${agent.systemPrompt ?? ""}`);
  return EXIT.ok;
}
