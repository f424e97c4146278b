import type { FilePart, PromptPart } from "../../client/index.ts";
import { isAttachment } from "../../core/view/attachment.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Content } from "../../schema/message.ts";
import { joinText } from "../../schema/message-text.ts";
import { ServerProblem } from "./problem.ts";
import type { UiUserMessage } from "./ui-chunk.ts";

/** A file of the AI SDK, whose bytes are in its address. */
export type UiFile = {
  readonly type: "file";
  readonly url: string;
  readonly mediaType: string;
  readonly filename?: string;
};

/** Converts the images and files of a message for a page. */
export function toUiFiles(content: readonly Content[]): readonly UiFile[] {
  return content.filter(isAttachment).map(({ mimeType, data, name }) => ({
    type: "file",
    url: `data:${mimeType};base64,${data}`,
    mediaType: mimeType,
    ...omitUndefined({ filename: name }),
  }));
}

/** Converts the content of a user's message. */
export function toUiUserMessage(content: readonly Content[]): UiUserMessage {
  const files = toUiFiles(content);
  return { text: joinText(content), ...(files.length === 0 ? {} : { files }) };
}

/** A part of a page's message, as it arrives. */
type PagePart = { readonly type: string; readonly [field: string]: unknown };

/** Converts the parts of a page's message to those of a prompt. */
export function fromUiParts(parts: readonly PagePart[]): readonly PromptPart[] {
  return parts.map((part): PromptPart => {
    if (part.type === "text")
      return { type: "text", text: typeof part["text"] === "string" ? part["text"] : "" };
    if (part.type === "file") return fromUiFile(part);
    throw new ServerProblem(
      "body-invalid",
      `The message has a part of type "${part.type}"; a prompt consists of parts of type "text" and "file".`,
    );
  });
}

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/;

function fromUiFile({ url, filename, mediaType }: PagePart): FilePart {
  const [head, ownType = "", parameters = ""] = (typeof url === "string" && DATA_URL.exec(url)) || [];
  if (typeof url !== "string" || head === undefined) {
    throw new ServerProblem(
      "body-invalid",
      "The message has a file that is not in the message: the server loads no addresses. Send its bytes as a data: URL, " +
        "as `sendMessage({ files })` does.",
    );
  }
  const given = url.slice(head.length);
  const isBase64 = parameters.toLowerCase().endsWith(";base64");
  const type = typeof mediaType === "string" && mediaType !== "" ? mediaType : ownType;
  return {
    type: "file",
    ...(isBase64 ? { data: given } : { bytes: decodeText(given) }),
    ...(typeof filename === "string" && filename !== "" ? { name: filename } : {}),
    ...(type === "" ? {} : { mimeType: type }),
  };
}

function decodeText(text: string): Uint8Array {
  try {
    return Buffer.from(decodeURIComponent(text), "utf8");
  } catch {
    throw new ServerProblem("body-invalid", "The message has a file whose data: URL is damaged.");
  }
}
