import type { Content } from "../../../src/schema/message.ts";
import type { Protocol } from "../../../src/schema/model.ts";
import { computeSignature } from "../../../src/testing/model-server/gemini-validation.ts";

// Parts of answers with their vendors' tokens, each of which occurs nowhere else.

/** A word that occurs in no other part. */
export type CreateMark = (kind: string) => string;
export type MarkedPart = { readonly content: readonly Content[]; readonly tokens: readonly string[] };
type CreatePart = (mark: CreateMark) => MarkedPart;
export type VendorParts = {
  readonly thinking: CreatePart;
  readonly text: CreatePart;
  readonly vendor: CreatePart;
  readonly call: (id: string, mark: CreateMark) => MarkedPart;
};

export function createMarks(): CreateMark {
  let count = 1000;
  return (kind) => {
    count += 1;
    return `${kind}${count}`;
  };
}

const part = (content: Content, ...tokens: string[]): MarkedPart => ({ content: [content], tokens });
const plainText: CreatePart = (mark) => part({ type: "text", text: mark("TEXT") });
const nothing: CreatePart = () => ({ content: [], tokens: [] });
const plainCall = (id: string, mark: CreateMark): MarkedPart =>
  part({ type: "toolCall", id, name: "read", arguments: { path: mark("PATH") } });

const signedThinking: CreatePart = (mark) => {
  const signature = mark("TOKEN");
  return part({ type: "thinking", thinking: mark("THOUGHT"), signature }, signature);
};

function vendorBlock(kind: string, data: object, token: string): MarkedPart {
  return part({ type: "vendor", kind, data }, token);
}

const anthropic: VendorParts = {
  thinking: (mark) => {
    const redacted = mark("TOKEN");
    const { content, tokens } = signedThinking(mark);
    const hidden: Content = { type: "thinking", thinking: "", signature: redacted, redacted: true };
    return { content: [...content, hidden], tokens: [...tokens, redacted] };
  },
  text: (mark) => {
    const token = mark("TOKEN");
    const citation = {
      type: "web_search_result_location",
      url: "https://x",
      title: "X",
      cited_text: "x",
      encrypted_index: token,
    };
    return part(
      { type: "text", text: mark("TEXT"), signature: JSON.stringify({ citations: [citation] }) },
      token,
    );
  },
  vendor: (mark) => {
    const token = mark("srvtoolu_TOKEN");
    return vendorBlock(
      "server_tool_use",
      { type: "server_tool_use", id: token, name: "web_search", input: {} },
      token,
    );
  },
  call: plainCall,
};

const completions: VendorParts = {
  // From a server that forwards another vendor's signature. OpenAI's own does not accept it back.
  thinking: (mark) => part({ type: "thinking", thinking: mark("THOUGHT") }),
  text: plainText,
  vendor: nothing,
  call: plainCall,
};

const responses: VendorParts = {
  thinking: (mark) => {
    const [id, token] = [mark("rs_TOKEN"), mark("gTOKEN")];
    const item = { type: "reasoning", id, summary: [], encrypted_content: token };
    const content: Content = {
      type: "thinking",
      thinking: mark("THOUGHT"),
      signature: JSON.stringify(item),
    };
    return part(content, id, token);
  },
  text: (mark) => {
    const id = mark("msg_TOKEN");
    return part({ type: "text", text: mark("TEXT"), signature: JSON.stringify({ type: "message", id }) }, id);
  },
  vendor: (mark) => {
    const id = mark("ws_TOKEN");
    return vendorBlock(
      "web_search_call",
      { type: "web_search_call", id, status: "completed", action: { type: "search", query: "x" } },
      id,
    );
  },
  call: (callId, mark) => {
    const id = mark("fc_TOKEN");
    const signature = JSON.stringify({ type: "function_call", id });
    const input = { path: mark("PATH") };
    return part({ type: "toolCall", id: callId, name: "read", arguments: input, signature }, id);
  },
};

const gemini: VendorParts = {
  thinking: signedThinking,
  text: (mark) => {
    const signature = mark("TOKEN");
    return part({ type: "text", text: mark("TEXT"), signature }, signature);
  },
  vendor: (mark) => {
    const thoughtSignature = mark("TOKEN");
    const data = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature };
    return vendorBlock("executableCode", data, thoughtSignature);
  },
  call: (id, mark) => {
    const input = { path: mark("PATH") };
    // The scripted vendor checks it.
    const signature = computeSignature("read", input);
    return part({ type: "toolCall", id, name: "read", arguments: input, signature }, signature);
  },
};

const bedrock: VendorParts = {
  thinking: (mark) => {
    const redacted = mark("TOKEN");
    const { content, tokens } = signedThinking(mark);
    const hidden: Content = { type: "thinking", thinking: "", signature: redacted, redacted: true };
    return { content: [...content, hidden], tokens: [...tokens, redacted] };
  },
  text: plainText,
  vendor: (mark) => {
    const toolUseId = mark("TOKEN");
    const use = { toolUseId, name: "nova_grounding", type: "server_tool_use", input: {} };
    const found = { toolUseId, type: "nova_grounding_result", status: "success", content: [] };
    return {
      content: [
        { type: "vendor", kind: "toolUse", data: { toolUse: use } },
        { type: "vendor", kind: "toolResult", data: { toolResult: found } },
      ],
      tokens: [toolUseId],
    };
  },
  call: plainCall,
};

export const VENDOR_PARTS: Readonly<Record<Protocol, VendorParts>> = {
  anthropic_messages: anthropic,
  openai_completions: completions,
  openai_responses: responses,
  azure_openai_responses: responses,
  google_generative_ai: gemini,
  google_vertex: gemini,
  bedrock_converse_stream: bedrock,
};
