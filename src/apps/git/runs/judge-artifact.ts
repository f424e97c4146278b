import type { AgentDefinitionInput, Holdfast, Outcome } from "../../../client/index.ts";
import { formatCritiqueTask } from "../agents/task-prompt.ts";
import { Critique } from "../artifacts/critique.ts";
import type { Artifact } from "../artifacts/read-artifact.ts";
import { askAgent, type Watcher } from "./ask-agent.ts";

/** What the critic says about an artifact. `failed`: it says nothing, which costs the artifact nothing (IRIS-23). */
export type Verdict =
  | { readonly type: "judged"; readonly session: string; readonly critique: Critique }
  | { readonly type: "failed"; readonly session: string; readonly reason: string };

/** Returns the id of the critic's session, in which its verdict stays. */
export function nameCriticSession(session: string): string {
  return `${session}.critic`;
}

/** Has an agent of its own judge an artifact (IRIS-20, IRIS-21). */
export async function judgeArtifact(
  holdfast: Holdfast,
  {
    session,
    agent,
    task,
    artifact,
    title,
  }: {
    /** The session that has made the artifact. */
    readonly session: string;
    readonly agent: AgentDefinitionInput;
    readonly task: string;
    readonly artifact: Artifact;
    readonly title: string;
  },
  watcher: Watcher,
): Promise<Verdict> {
  const id = nameCriticSession(session);
  try {
    const prompt = formatCritiqueTask(task, JSON.stringify(artifact.value, null, 2));
    const ask = { session: id, agent, prompt, messageId: `${id}.critique`, title: `Critic of: ${title}` };
    const answer = await askAgent(holdfast, { ...ask, metadata: { git: { judges: session } } }, watcher);
    if (answer?.outcome.type !== "answered")
      return {
        type: "failed",
        session: id,
        reason: describeEnding(answer?.outcome),
      };
    return { type: "judged", session: id, critique: Critique.parse(answer.output) };
  } catch (error) {
    if (watcher.signal?.aborted === true) throw error;
    return {
      type: "failed",
      session: id,
      reason: error instanceof Error ? error.message : String(error),
    };
  }
}

function describeEnding(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "its session has gone on";
  if (outcome.type === "failed") return outcome.message;
  return "reason" in outcome ? outcome.reason : `its run has ended as ${outcome.type}`;
}

/** Whether an artifact is made again: only if the critic says what is wrong with it (IRIS-22). */
export function requiresRevision(verdict: Verdict): verdict is Extract<Verdict, { type: "judged" }> {
  if (verdict.type === "failed") return false;
  const { requires_revision, issues, revision_prompt } = verdict.critique;
  return requires_revision && (issues.length > 0 || revision_prompt.trim() !== "");
}
