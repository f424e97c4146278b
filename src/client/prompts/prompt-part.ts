/**
 * The bytes of an image or a file: from a path, which the client reads, as base64, or as bytes. They are stored in the
 * transcript before the message is sent, so a worker on another host has them.
 */
export type PartSource =
  | {
      /** A file of this machine. */
      readonly path: string;
    }
  | {
      /** Base64, without a data: prefix. */
      readonly data: string;
    }
  | {
      /** The bytes themselves. */
      readonly bytes: Uint8Array;
    };

/** An image: PNG, JPEG, GIF or WebP. The bytes decide which, whatever `mimeType` says. */
export type ImagePart = PartSource & {
  readonly type: "image";
  /** The name that the model and readers see; by default that of the path. */
  readonly name?: string;
  /** Accepted, and ignored. */
  readonly mimeType?: string;
};

/** A file: a PDF document, a text in UTF-8 or UTF-16, or an image. The bytes decide which. */
export type FilePart = PartSource & {
  readonly type: "file";
  /** The name that the model and readers see; by default that of the path. */
  readonly name?: string;
  /** The kind of a text, such as `text/markdown`; by default from its name. */
  readonly mimeType?: string;
};

/** A text of a prompt. Several texts are separated by a line break. */
export type TextPart = {
  readonly type: "text";
  /** The text. */
  readonly text: string;
};

/** A part of a prompt: text, an image, or a file. */
export type PromptPart = TextPart | ImagePart | FilePart;

/** What a user sends to an agent: a text, or parts in order. */
export type Prompt = string | readonly PromptPart[];

/** Returns the text of a prompt, without its images and files. */
export function getPromptText(prompt: Prompt): string {
  if (typeof prompt === "string") return prompt;
  return prompt.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Formats a prompt for labels: its text, or the kinds of its parts if it has none. */
export function formatPromptLabel(prompt: Prompt): string {
  const text = getPromptText(prompt);
  if (typeof prompt === "string" || text.trim() !== "") return text;
  return prompt.map(({ type }) => `[${type}]`).join(" ");
}
