import { z } from "zod";
import type { Prompt, PromptPart } from "../../client/index.ts";

// The parts of a message over HTTP. A part has its bytes: the server reads no file that a request names.

const name = z.string().min(1).max(200).optional();
const data = z.string().min(1).describe("The bytes in base64, without a `data:` prefix.");

const Part = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string().describe("The text.") }),
  z.strictObject({
    type: z.literal("image"),
    data,
    name: name.describe("The name of its file, if it has one."),
    mimeType: z
      .string()
      .optional()
      .describe("Ignored: the bytes decide whether it is PNG, JPEG, GIF or WebP."),
  }),
  z.strictObject({
    type: z.literal("file"),
    data,
    name: name.describe("The name that the model sees."),
    mimeType: z.string().optional().describe("The kind of a text, such as `text/markdown`."),
  }),
]);

export const Parts = z
  .array(Part)
  .min(1, "must not be empty")
  .max(100)
  .describe("The message as texts, images, PDF documents and text files, in order.");
type Parts = z.infer<typeof Parts>;

/** The fields of a message: `text`, or `parts` in its place. */
export const MESSAGE_FIELDS = {
  text: z.string().min(1, "must not be empty").optional().describe("The message, unless it has `parts`."),
  parts: Parts.optional(),
} as const;

type MessageFields = { readonly text?: string | undefined; readonly parts?: Parts | undefined };

export function hasOneMessage({ text, parts }: MessageFields): boolean {
  return (text === undefined) !== (parts === undefined);
}

export const ONE_MESSAGE = "needs either `text` or `parts`";

export function toPrompt({ text, parts }: MessageFields): Prompt {
  return parts === undefined ? (text ?? "") : toPromptParts(parts);
}

export function toPromptParts(parts: Parts): readonly PromptPart[] {
  return parts.map((part): PromptPart => {
    if (part.type === "text") return part;
    const { name: given, mimeType, ...rest } = part;
    return {
      ...rest,
      ...(given === undefined ? {} : { name: given }),
      ...(mimeType === undefined ? {} : { mimeType }),
    };
  });
}
