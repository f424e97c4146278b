// The differences of Claude models on the wire. From Opus 4.7 on, a fixed thinking budget, `temperature`, a forced tool and
// similar fields cause a 400. Which newer models still accept them is not documented, so none of them gets the fields.

import type { ModelConfig } from "../schema/model.ts";

export type ClaudeModel = {
  /** `budget`: a number of tokens. `adaptive`: the model decides, guided by an effort. */
  readonly thinking: "budget" | "adaptive";
  /** The efforts above `high` that the model accepts; the API rejects the others. */
  readonly highestEfforts: readonly ("xhigh" | "max")[];
  readonly takesTemperature: boolean;
  /** The model accepts a forced tool while it does not think. */
  readonly takesToolChoice: boolean;
  /** The model accepts a schema (`output_config.format`). */
  readonly takesFormat: boolean;
};

const BUDGET_MODEL: ClaudeModel = {
  thinking: "budget",
  highestEfforts: [],
  takesTemperature: true,
  takesToolChoice: true,
  takesFormat: false,
};
const ADAPTIVE_MODEL: ClaudeModel = {
  thinking: "adaptive",
  highestEfforts: ["xhigh", "max"],
  takesTemperature: false,
  takesToolChoice: false,
  takesFormat: true,
};

/** The first match wins. A name with an unknown version counts as a new model of its family. */
const MODELS: readonly { readonly id: RegExp; readonly model: ClaudeModel }[] = [
  { id: /claude-(?:instant|2|3)\b/, model: BUDGET_MODEL },
  {
    id: /claude-(?:opus|sonnet)-4[-.]6(?!\d)/,
    model: { ...BUDGET_MODEL, highestEfforts: ["max"], takesFormat: true },
  },
  { id: /claude-(?:opus|sonnet|haiku)-4[-.][56](?!\d)/, model: { ...BUDGET_MODEL, takesFormat: true } },
  // 4.7 and later are of the new kind. Eight digits after the 4 are a date, as in claude-sonnet-4-20250514.
  { id: /claude-(?:opus|sonnet|haiku)-4(?![-.][7-9](?!\d))/, model: BUDGET_MODEL },
  { id: /claude-(?:opus|sonnet|haiku|fable|mythos)-/, model: ADAPTIVE_MODEL },
];

/** Other vendors' models with this protocol get the fields of the first Claude models. */
export function describeClaudeModel(id: string): ClaudeModel {
  return MODELS.find((entry) => entry.id.test(id))?.model ?? BUDGET_MODEL;
}

/** Selects how thinking is requested: as configured, or by the model's name. An effort is this protocol's level. */
export function selectThinkingStyle({ id, thinkingStyle: style }: ModelConfig): ClaudeModel["thinking"] {
  if (style === undefined) return describeClaudeModel(id).thinking;
  return style === "budget" ? "budget" : "adaptive";
}
