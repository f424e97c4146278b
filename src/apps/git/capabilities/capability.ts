import { z } from "zod";

/**
 * When the critic judges an artifact (IRIS-20): always unless the user turns it off, only if the user asks for it, or
 * never.
 */
const CriticSetting = z.enum(["on", "on-request", "off"]);

const CapabilityName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_-]{0,63}$/,
    "must begin with a small letter and have at most 64 of a-z, 0-9, - and _",
  );

/** The content of a capability file (IRIS-04). Its keys are those of the file. */
export const CapabilityFile = z
  .strictObject({
    name: CapabilityName.describe("The name on the command line. A file of the same name overrides another."),
    description: z.string().min(1).max(200).describe("One sentence for lists."),
    output_type: z
      .string()
      .min(1)
      .optional()
      .describe("The name of a built-in artifact type, such as Review. PlainText by default."),
    output_schema: z
      .string()
      .min(1)
      .optional()
      .describe(
        "A file with a JSON Schema of the artifact, relative to this file, in place of `output_type`.",
      ),
    task_prompt: z.string().min(1).max(64_000).describe("What the model is told to do."),
    tools: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("The names of the tools that the agent may call; all git tools by default."),
    critic: CriticSetting.default("off").describe("Whether a critic judges the artifact."),
    internal: z.boolean().default(false).describe("Hides the capability from users."),
  })
  .superRefine(({ output_type, output_schema }, context) => {
    if (output_type !== undefined && output_schema !== undefined)
      context.addIssue({
        code: "custom",
        path: ["output_schema"],
        message: "must not be combined with output_type: remove one of the two",
      });
  });

/** Where a capability comes from. A later one in this list overrides an earlier one of the same name. */
export const CAPABILITY_ORIGINS = ["built-in", "home", "repository"] as const;
export type CapabilityOrigin = (typeof CAPABILITY_ORIGINS)[number];

/** A task that the git agent can perform, as data. */
export type Capability = {
  readonly name: string;
  readonly description: string;
  readonly origin: CapabilityOrigin;
  /** The file that defines it. */
  readonly file: string;
  readonly output:
    | { readonly type: "artifact"; readonly name: string }
    /** A JSON Schema from a file of the capability's author. */
    | { readonly type: "schema"; readonly schema: Readonly<Record<string, unknown>> };
  readonly taskPrompt: string;
  /** Absent: all tools. */
  readonly tools?: readonly string[];
  readonly critic: z.infer<typeof CriticSetting>;
  readonly isInternal: boolean;
};

/** What an unknown name stands for (IRIS-04). */
export function createGenericCapability(name: string): Capability {
  return {
    name,
    description: "A task without instructions of its own.",
    origin: "built-in",
    file: "",
    output: { type: "artifact", name: "PlainText" },
    taskPrompt: "Generic prompt",
    critic: "off",
    isInternal: false,
  };
}
