import { anthropicHazards } from "./anthropic.ts";
import { bedrockHazards } from "./bedrock.ts";
import { completionsHazards } from "./completions.ts";
import { googleHazards, vertexHazards } from "./gemini.ts";
import { azureHazards, responsesHazards } from "./responses.ts";
import type { HazardWire } from "./wire.ts";

export { type AnswerContent, addUnknownFields, encodeText, type HazardWire, SAMPLE_ANSWER } from "./wire.ts";

/** Every protocol that is tested with the hazards and fuzzed. */
export const HAZARD_WIRES: readonly HazardWire[] = [
  anthropicHazards,
  completionsHazards,
  responsesHazards,
  azureHazards,
  googleHazards,
  vertexHazards,
  bedrockHazards,
];
