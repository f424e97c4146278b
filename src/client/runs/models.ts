import { CatalogueError } from "../../config/catalogue/user-file.ts";
import { parseModel as parse } from "../../config/parse-model.ts";
import * as factories from "../../config/vendor-models.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { HoldfastError } from "../holdfast-error.ts";

// The factories of models. They throw the client's errors.

type ModelFactory<Arguments extends readonly unknown[]> = (...given: Arguments) => ModelConfig;

function wrapFactory<Arguments extends readonly unknown[]>(
  make: ModelFactory<Arguments>,
): ModelFactory<Arguments> {
  return (...given) => {
    try {
      return make(...given);
    } catch (error) {
      if (!(error instanceof factories.ModelError || error instanceof CatalogueError)) throw error;
      throw new HoldfastError("definition-invalid", error.message, {
        problems: [error.message],
        cause: error,
      });
    }
  };
}

export const anthropic = wrapFactory(factories.anthropic);
export const openai = wrapFactory(factories.openai);
export const openaiResponses = wrapFactory(factories.openaiResponses);
export const azure = wrapFactory(factories.azure);
export const openrouter = wrapFactory(factories.openrouter);
export const bedrock = wrapFactory(factories.bedrock);
export const google = wrapFactory(factories.google);
export const vertex = wrapFactory(factories.vertex);
export const local = wrapFactory(factories.local);
export const parseModel = wrapFactory(parse);
