import { z } from "zod";

// What a run is about, as data in the metadata of its prompts: another process resumes it from there.

const ChangeRequest = z.discriminatedUnion("type", [
  z.object({ type: z.literal("staged") }),
  z.object({ type: z.literal("commit"), commit: z.string(), withStaged: z.boolean().optional() }),
  z.object({
    type: z.literal("range"),
    from: z.string(),
    to: z.string(),
    fromMergeBase: z.boolean().optional(),
  }),
]);

const PinnedChange = z.object({
  source: z.discriminatedUnion("type", [
    z.object({ type: z.literal("staged") }),
    z.object({ type: z.literal("unstaged") }),
    z.object({ type: z.literal("commits"), from: z.string(), to: z.string() }),
  ]),
  fingerprint: z.string().optional(),
  label: z.string(),
});

const RunLimits = z
  .object({
    maxTurns: z.number().nullable(),
    maxTotalTokens: z.number().nullable(),
    maxDurationMs: z.number().nullable(),
    maxCostUsd: z.number().nullable(),
    maxToolCalls: z.number().nullable(),
  })
  .partial();

/** Everything that a process needs to carry out a capability, but the texts of the user, which the prompt has. */
export const RunPlan = z.object({
  capability: z.string(),
  /** The root of the work tree. */
  repository: z.string(),
  /** Another index than the repository's own. */
  index: z.string().optional(),
  change: ChangeRequest.optional(),
  hasCritic: z.boolean(),
  style: z.object({ preset: z.string().optional(), gitmoji: z.boolean().optional() }),
  models: z.object({
    model: z.string().optional(),
    provider: z.string().optional(),
    subagentModel: z.string().optional(),
    baseUrl: z.string().optional(),
  }),
  subAgents: z.object({ maxTurns: z.number().optional(), timeoutMs: z.number().optional() }),
  limits: RunLimits,
  /** The command that began it, and how it shows the artifact. */
  output: z.record(z.string(), z.unknown()).optional(),
});
export type RunPlan = z.infer<typeof RunPlan>;

const PromptNotes = z.object({
  git: z.object({ plan: RunPlan.optional(), change: PinnedChange.optional() }),
});
export type PromptNotes = z.infer<typeof PromptNotes>["git"];

export function toMetadata(notes: PromptNotes): Record<string, unknown> {
  return { git: notes };
}

/** Reads the notes of a prompt; nothing for one that is not of git work. */
export function readPromptNotes(metadata: unknown): PromptNotes | undefined {
  return PromptNotes.safeParse(metadata).data?.git;
}
