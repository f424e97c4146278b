import type { Message } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import {
  type Attachment,
  formatAttachment,
  formatSize,
  isAttachment,
  isPdf,
  isTextFile,
} from "./attachment.ts";
import { countDataBytes } from "./data-reference.ts";

// What a model can read besides text. A message is checked when it is sent; the same rules decide what a request to another
// model leaves out.

/** The most that a vendor takes, in bytes before base64. */
export type InputLimits = {
  readonly imageBytes: number;
  readonly pdfBytes: number;
  readonly pdfPages: number;
  /** All images and documents of a request together. */
  readonly totalBytes: number;
  /** In one message. */
  readonly images: number;
  readonly pdfs: number;
  /** The longest side of an image, in pixels. */
  readonly imagePixels: number;
};

const MIB = 1024 * 1024;

/** What Holdfast itself takes in one message: base64 of it and some text fit into the 32 MB of Anthropic's requests. */
export const OWN_LIMITS: InputLimits = {
  imageBytes: 20 * MIB,
  pdfBytes: 22 * MIB,
  pdfPages: 1000,
  totalBytes: 22 * MIB,
  images: 100,
  pdfs: 100,
  imagePixels: 100_000,
};

/** Anthropic counts the 5 MB of an image in base64. Models with a window of 1M tokens take 600 pages, others 100. */
const ANTHROPIC = { imageBytes: 3.75 * MIB, pdfPages: 100, imagePixels: 8000 };
const LARGE_WINDOW = 1_000_000;
const LARGE_WINDOW_PAGES = 600;
/** Gemini: 20 MB for a request with inline data, in base64. */
const GOOGLE = { imageBytes: 14 * MIB, pdfBytes: 14 * MIB, totalBytes: 14 * MIB };
/** The Converse API: 20 images of 3.75 MB and 8000 pixels, and 5 documents of 4.5 MB, in a message. */
const BEDROCK = {
  imageBytes: 3.75 * MIB,
  pdfBytes: 4.5 * MIB,
  images: 20,
  pdfs: 5,
  imagePixels: 8000,
};

type InputModel = Pick<ModelConfig, "api" | "provider" | "id" | "input" | "contextWindow">;

export function getInputLimits({
  api,
  contextWindow,
}: Pick<InputModel, "api" | "contextWindow">): InputLimits {
  switch (api) {
    case "anthropic_messages": {
      const pages = contextWindow >= LARGE_WINDOW ? { pdfPages: LARGE_WINDOW_PAGES } : {};
      return { ...OWN_LIMITS, ...ANTHROPIC, ...pages };
    }
    case "google_generative_ai":
    case "google_vertex":
      return { ...OWN_LIMITS, ...GOOGLE };
    case "bedrock_converse_stream":
      return { ...OWN_LIMITS, ...BEDROCK };
    default:
      return OWN_LIMITS;
  }
}

/** Returns what both take. */
export function combineLimits(a: InputLimits, b: InputLimits): InputLimits {
  const names = Object.keys(a) as (keyof InputLimits)[];
  return Object.fromEntries(names.map((name) => [name, Math.min(a[name], b[name])])) as InputLimits;
}

/** Vendors whose chat completions take PDF documents. Of other servers with that protocol, few do. */
const PDF_COMPLETIONS: ReadonlySet<string> = new Set(["openai", "openrouter"]);

/** Reports whether a model reads images, or PDF documents. A model of unknown abilities is taken to read what its protocol has. */
export function acceptsInput({ api, provider, input }: InputModel, kind: "image" | "pdf"): boolean {
  if (input !== undefined) return input.includes(kind);
  if (kind === "image") return true;
  if (api === "openai_completions") return PDF_COMPLETIONS.has(provider);
  return !api.startsWith("custom_");
}

/** Why a model cannot read a part. `unsupported`: it reads no part of the kind. */
export type InputProblem = { readonly type: "unsupported" | "too-large"; readonly reason: string };

/** Returns why a model cannot read a part; nothing if it can. Texts are read by all models. */
export function findInputProblem(part: Attachment, model: InputModel): InputProblem | undefined {
  const name = `${model.provider}/${model.id}`;
  const limits = getInputLimits(model);
  const bytes = countDataBytes(part.data);
  if (part.type === "image") {
    if (!acceptsInput(model, "image")) return buildUnsupported(`the model ${name} does not read images`);
    return bytes > limits.imageBytes ? buildTooLarge("images", limits.imageBytes, name) : undefined;
  }
  if (isTextFile(part)) return undefined;
  if (!isPdf(part)) return buildUnsupported(`files of type ${part.mimeType} cannot be sent to a model`);
  if (!acceptsInput(model, "pdf")) return buildUnsupported(`the model ${name} does not read PDF documents`);
  if (bytes > limits.pdfBytes) return buildTooLarge("PDF documents", limits.pdfBytes, name);
  const { pages = 1 } = part;
  return pages > limits.pdfPages
    ? { type: "too-large", reason: `the model ${name} reads PDF documents of up to ${limits.pdfPages} pages` }
    : undefined;
}

function buildUnsupported(reason: string): InputProblem {
  return { type: "unsupported", reason };
}

function buildTooLarge(what: string, maxBytes: number, name: string): InputProblem {
  return { type: "too-large", reason: `the model ${name} reads ${what} of up to ${formatSize(maxBytes)}` };
}

/**
 * Replaces the images and files that a model cannot read by texts that say so: after a change of the model, or for a fallback.
 * Otherwise the vendor would reject the request, and every later one of the conversation.
 */
export function fitToModel(messages: readonly Message[], model: InputModel): readonly Message[] {
  const fitted = messages.map((message) => fitMessage(message, model));
  return fitted.every((message, index) => message === messages[index]) ? messages : fitted;
}

function fitMessage(message: Message, model: InputModel): Message {
  if (message.role === "assistant") return message;
  let isChanged = false;
  const content = message.content.map((part) => {
    const problem = isAttachment(part) ? findInputProblem(part, model) : undefined;
    if (!isAttachment(part) || problem === undefined) return part;
    isChanged = true;
    return { type: "text" as const, text: `[The ${formatAttachment(part)} is left out: ${problem.reason}.]` };
  });
  return isChanged ? { ...message, content } : message;
}
