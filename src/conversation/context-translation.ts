import { DEFAULT_TRANSLATION } from "../schema/context.ts";
import type { AgentDefinition } from "../schema/definition.ts";

type TranslationSetting = Pick<AgentDefinition, "contextTranslation">;

/** Reports whether adapters send messages as they are: translated already, or not to be translated (XLAT-02). */
export function isTranslated({ contextTranslation }: TranslationSetting): boolean {
  return contextTranslation !== undefined && contextTranslation !== DEFAULT_TRANSLATION;
}

/** Returns the name of the application's translation; nothing for the adapters' own and for none. */
export function getTranslation({ contextTranslation }: TranslationSetting): string | undefined {
  return contextTranslation === null || contextTranslation === DEFAULT_TRANSLATION
    ? undefined
    : contextTranslation;
}
