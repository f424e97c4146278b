import type { ModelRequest } from "../../../src/models/provider.ts";
import type { ModelConfig } from "../../../src/schema/model.ts";
import { isThorough } from "../../support/test-depth.ts";
import type { Conversation } from "./conversation.ts";
import { FILES } from "./files.ts";
import { IMAGES } from "./images.ts";
import { INVALID_CONTENT } from "./invalid-content.ts";
import { JOURNEYS } from "./journeys.ts";
import { OPTIONS } from "./options.ts";
import { TEXTS } from "./texts.ts";
import { THINKING } from "./thinking.ts";
import { TOOLS } from "./tools.ts";

export { type Conversation, type CorpusRequest, toFileText } from "./conversation.ts";
export { VENDOR_SAMPLES, type VendorSample, vendorSamples } from "./makers.ts";

/** Typical conversations of an agent, the same in every run; README.md describes their use. */
export const CORPUS: readonly Conversation[] = [
  ...TEXTS,
  ...IMAGES,
  ...FILES,
  ...TOOLS,
  ...THINKING,
  ...INVALID_CONTENT,
  ...OPTIONS,
  ...JOURNEYS,
];

/** The conversations on which each adapter is compared. `npm test` uses every sixth. */
export const COMPARED = isThorough ? CORPUS : CORPUS.filter((_, nth) => nth % 6 === 0);

/** The key of every request of the corpus. */
export const CORPUS_KEY = "test-key-0123456789";

/** A conversation as a request to a model. */
export function createRequest(model: ModelConfig, { request }: Conversation): ModelRequest {
  return { ...request, model, apiKey: CORPUS_KEY };
}
