import type { CatalogueEntry } from "../../config/catalogue/catalogue-entry.ts";
import { CatalogueError, readCatalogue } from "../../config/catalogue/user-file.ts";
import { parseModel as parse } from "../../config/parse-model.ts";
import type { ModelOptions } from "../../config/vendor-models.ts";
import * as factories from "../../config/vendor-models.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { HoldfastError } from "../holdfast-error.ts";

// The factories of models. They throw the client's errors.

function wrapFactory<Arguments extends readonly unknown[], Result>(
  make: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
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

/** A model of Anthropic's API, by its id. */
export const anthropic: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(
  factories.anthropic,
);
/** A model of OpenAI's chat completions, by its id. */
export const openai: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(factories.openai);
/** A model of OpenAI's Responses, by its id. */
export const openaiResponses: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(
  factories.openaiResponses,
);
/** A model in Azure, by the name of its deployment. */
export const azure: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(factories.azure);
/** A model of OpenRouter, by its id: `vendor/model`. */
export const openrouter: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(
  factories.openrouter,
);
/** A model of Amazon Bedrock, by its id. */
export const bedrock: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(factories.bedrock);
/** A model of Google's Gemini API, by its id. */
export const google: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(factories.google);
/** A model of Google's Vertex AI, by its id. */
export const vertex: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(factories.vertex);
/** A model on any server with OpenAI's chat completions, by the server's address and the model's id. */
export const local: (url: string, id: string, options?: ModelOptions) => ModelConfig = wrapFactory(
  factories.local,
);
/** A model by the name that the command line takes: `vendor/id`, such as `anthropic/claude-sonnet-5-5`. */
export const parseModel: (id: string, options?: ModelOptions) => ModelConfig = wrapFactory(parse);

/** Lists the models that Holdfast knows: the built-in catalogue, and the user's own file, which precedes it. */
export const listModels: () => readonly CatalogueEntry[] = wrapFactory(() => readCatalogue().entries());
