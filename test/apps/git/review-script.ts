import type { ModelScript, ScriptedConversation } from "../../../src/testing/model-server/script.ts";
import { PARTS, type ReviewedRepository } from "./reviewed-repository.ts";

type Script = Pick<ReviewedRepository, "base" | "head"> & {
  readonly critique?: object;
  readonly revised?: object;
  /** The last sub-agent fails. */
  readonly hasLostAgent?: boolean;
  /** The answers of the sub-agents, of the main agent and of the critic wait at gates of these names. */
  readonly isHeld?: boolean;
};

/** The gates of a held script, in the order in which a review arrives at them. */
export const GATES = ["sub-agents", "review", "critic"] as const;

const SOUND = { requires_revision: false, issues: [], revision_prompt: "", confidence: 90 };

/** A finding about the first part; its evidence holds if the line exists. */
export function createFinding({ head }: Pick<ReviewedRepository, "head">, id: string, line: number) {
  return {
    id,
    severity: "high",
    confidence: 90,
    file: "one/file.ts",
    start_line: line,
    end_line: line,
    category: "correctness",
    body: `Wrong at ${line}.`,
    evidence: [`${head.slice(0, 10)}:one/file.ts:${line}`],
  };
}

export const diff = (from: string, to: string, files: readonly string[] = []) => ({
  toolCalls: [{ name: "git_diff", arguments: { from, to, detail: "standard", files } }],
});

/** A review that gives each part to a sub-agent, and is judged by a critic. */
export function scriptReview({
  base,
  head,
  critique = SOUND,
  revised = {},
  hasLostAgent = false,
  isHeld = false,
}: Script): ModelScript {
  const hold = (gate: (typeof GATES)[number]) => (isHeld ? { holdUntil: gate } : {});
  const findings = [createFinding({ head }, "holds", 1), createFinding({ head }, "fails", 99)];
  const review = { summary: "Four parts change.", findings };
  const agents = PARTS.map(
    (part, at): ScriptedConversation => ({
      match: `Examine part ${part}`,
      replies:
        hasLostAgent && at === PARTS.length - 1
          ? [{ fault: "http", status: 400 }]
          : [diff(base, head, [part]), { text: `Part ${part} is sound.`, ...hold("sub-agents") }],
    }),
  );
  const tasks = PARTS.map((part) => ({
    name: "parallel_analyze",
    arguments: { task: `Examine part ${part}` },
  }));
  return {
    conversations: [
      {
        match: "Judge whether an artifact",
        replies: [{ text: JSON.stringify(critique), ...hold("critic") }],
      },
      ...agents,
      {
        match: "Review the change that you are given",
        replies: [
          { toolCalls: tasks },
          { text: JSON.stringify(review), ...hold("review") },
          { text: JSON.stringify(revised) },
        ],
      },
    ],
  };
}
