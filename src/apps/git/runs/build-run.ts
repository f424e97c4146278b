import { formatProblem, HoldfastError } from "../../../client/index.ts";
import { chooseModels } from "../agents/choose-models.ts";
import { defineGitAgent } from "../agents/define-agent.ts";
import type { Task } from "../agents/task-prompt.ts";
import { ARTIFACT_TYPES } from "../artifacts/artifact-types.ts";
import { type Capability, createGenericCapability } from "../capabilities/capability.ts";
import { type Capabilities, loadCapabilities } from "../capabilities/load-capabilities.ts";
import { loadStyles } from "../style/presets.ts";
import { ALL_TOOL_NAMES } from "../tools/registry.ts";
import type { CapabilityRun } from "./capability-run.ts";
import type { RunPlan } from "./run-plan.ts";

/** The critic's capability, which users do not see. */
const CRITIC = "verify";

type Environment = Readonly<Record<string, string | undefined>>;

export type RunBuild = {
  readonly session: string;
  readonly plan: RunPlan;
  readonly task: Omit<Task, "change">;
  readonly home: string;
  readonly isTrusted: boolean;
  readonly env: Environment;
};

/** Loads what the user, and a trusted repository, have of capabilities. */
export function loadGitCapabilities(home: string, repository: string | undefined): Capabilities {
  const artifactTypes = Object.keys(ARTIFACT_TYPES);
  return loadCapabilities({ home, repository, artifactTypes, toolNames: ALL_TOOL_NAMES });
}

/** Builds what a plan says: the agents, with models that are looked up now, and the repository. */
export function buildRun({ session, plan, task, home, isTrusted, env }: RunBuild): CapabilityRun {
  const { repository: folder, style, subAgents, limits, index } = plan;
  const loaded = loadGitCapabilities(home, isTrusted ? folder : undefined);
  const capability = findCapability(loaded, plan.capability);
  const models = chooseModels({ ...plan.models, env });
  const styles = loadStyles();
  if (style.preset !== undefined && !Object.hasOwn(styles.presets, style.preset)) {
    throw new HoldfastError(
      "definition-invalid",
      `There is no preset "${style.preset}". Choose one of ${Object.keys(styles.presets).join(", ")}.`,
    );
  }
  const common = { models, styles, workspace: folder, subAgents };
  const agent = defineGitAgent({ ...common, capability, style, limits });
  const critic = plan.hasCritic
    ? defineGitAgent({ ...common, capability: findCapability(loaded, CRITIC), style: {} })
    : undefined;
  return {
    session,
    title: `${capability.name}: ${describePlan(plan)}`,
    ...{ capability, plan, task, agent, critic },
    repository: { folder, options: { isTrusted, index } },
  };
}

/** Finds a capability. One whose file is wrong is an error; an unknown name stands for a generic one (IRIS-04). */
export function findCapability({ capabilities, problems }: Capabilities, name: string): Capability {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    throw new HoldfastError("definition-invalid", errors.map((one) => formatProblem(one)).join("\n"), {
      problems: errors.map((one) => formatProblem(one)),
    });
  }
  return capabilities.get(name) ?? createGenericCapability(name);
}

/** Whether the critic judges what a capability makes (IRIS-20). @param wanted - What the user has said about it. */
export function usesCritic({ critic }: Capability, wanted: boolean | undefined): boolean {
  if (critic === "off") return false;
  return wanted ?? critic === "on";
}

function describePlan({ change, repository }: RunPlan): string {
  const folder = repository.split(/[/\\]/).at(-1) ?? repository;
  if (change === undefined) return folder;
  if (change.type === "staged") return `staged changes of ${folder}`;
  if (change.type === "commit") return `commit ${change.commit} of ${folder}`;
  return `${change.from}${change.fromMergeBase === true ? "..." : ".."}${change.to} of ${folder}`;
}
