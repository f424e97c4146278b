import { CatalogueError } from "../../config/catalogue/user-file.ts";
import { parseModel as parse } from "../../config/parse-model.ts";
import * as factories from "../../config/vendor-models.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { HoldfastError } from "../error.ts";

// The factories of models, with errors as the rest of the client has them.

type Factory<Arguments extends readonly unknown[]> = (...given: Arguments) => ModelConfig;

function factory<Arguments extends readonly unknown[]>(make: Factory<Arguments>): Factory<Arguments> {
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

export const anthropic = factory(factories.anthropic);
export const openai = factory(factories.openai);
export const openaiResponses = factory(factories.openaiResponses);
export const azure = factory(factories.azure);
export const openrouter = factory(factories.openrouter);
export const bedrock = factory(factories.bedrock);
export const google = factory(factories.google);
export const vertex = factory(factories.vertex);
export const local = factory(factories.local);
export const parseModel = factory(parse);
