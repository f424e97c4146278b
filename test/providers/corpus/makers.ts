import type { Content } from "../../../src/schema/message.ts";

/** Opaque data in a vendor's own answers, in the form in which its adapter stores it. */
export type VendorSample = {
  /** `provider` of the messages that the vendor produced. */
  readonly provider: string;
  readonly callId: string;
  readonly thinking: Content;
  /** A signature next to the call. */
  readonly callSignature?: string;
  readonly textSignature?: string;
};

const thinking = (signature: string | undefined, more: object = {}): Content => ({
  type: "thinking",
  thinking: "The user wants to see a file.",
  ...(signature !== undefined && { signature }),
  ...more,
});

export const VENDOR_SAMPLES = {
  anthropic: {
    provider: "anthropic",
    callId: "toolu_01A09q90qw90lq917835lq9",
    thinking: thinking("EqoBCkgIARABGAIiQL2UoU0b1OHYi+yCHpBY7U6FQW8/FcoLewocJQPa2HnmLM+NECy50y44F/kD=="),
  },
  openai: {
    provider: "openai",
    callId: "call_KiUmpLT8xrlA5ZmXSXkMbxVl",
    thinking: thinking(
      '{"id":"rs_68c1fa1b2c3d","type":"reasoning","summary":[{"type":"summary_text","text":"The user wants to see a file."}],"encrypted_content":"gAAAAABowfo="}',
    ),
  },
  openai_responses: {
    provider: "openai_responses",
    callId: "call_KiUmpLT8xrlA5ZmXSXkMbxVl",
    thinking: thinking(
      '{"id":"rs_68c1fa1b2c3e","type":"reasoning","summary":[],"encrypted_content":"gAAAAABowfp="}',
    ),
  },
  azure_openai: {
    provider: "azure_openai",
    callId: "call_tb5Kwq2oVYAbAmHT4x0VjqaG",
    thinking: thinking(
      '{"id":"rs_68c1fa1b2c3f","type":"reasoning","summary":[],"encrypted_content":"gAAAAABowfq="}',
    ),
  },
  openrouter: {
    provider: "openrouter",
    callId: "tool_0_read",
    thinking: thinking(
      '[{"type":"reasoning.text","text":"The user wants to see a file.","signature":"EqoB","format":"anthropic-claude-v1","index":0}]',
    ),
  },
  deepseek: {
    provider: "deepseek",
    callId: "call_00_Wl7iZcCgnEnBkvz6Wv7yQDVc",
    thinking: thinking(undefined),
  },
  mistral: { provider: "mistral", callId: "Yt4k8w2Qx", thinking: thinking(undefined) },
  google: {
    provider: "google",
    callId: "google-fc-0",
    thinking: thinking(undefined),
    callSignature: "CiQBjz1rX2NoZWNrc3VtIG9mIGEgdGhvdWdodA==",
    textSignature: "CiQBjz1rX3RleHQgc2lnbmF0dXJl",
  },
  google_vertex: {
    provider: "google_vertex",
    callId: "vertex-fc-0",
    thinking: thinking(undefined),
    callSignature: "CiQBjz1rX3ZlcnRleCBzaWduYXR1cmU=",
    textSignature: "CiQBjz1rX3ZlcnRleCB0ZXh0",
  },
  bedrock: {
    provider: "bedrock",
    callId: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
    thinking: thinking("ErcBCkgIBhABGAIiQNNxOxIgVGhlIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQ="),
  },
} as const satisfies Record<string, VendorSample>;

export const vendorSamples: readonly VendorSample[] = Object.values(VENDOR_SAMPLES);
