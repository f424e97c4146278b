// Where Claude models differ on the wire. From Opus 4.7 on a fixed thinking budget, `temperature`, a forced tool and
// their like are answered with 400; which of the newest would still take them is not documented for each, so all are spared.

import type { ModelConfig } from "../schema/model.ts";

export type ClaudeModel = {
  /** `budget`: a number of tokens. `adaptive`: the model decides, guided by an effort. */
  readonly thinking: "budget" | "adaptive";
  /** Efforts above `high` that it knows; the API refuses the others. */
  readonly highestEfforts: readonly ("xhigh" | "max")[];
  readonly takesTemperature: boolean;
  /** Can be told which tool to call, while it does not think. */
  readonly takesToolChoice: boolean;
  /** Can be held to a schema (`output_config.format`). */
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

/** First match wins. A name without a version that we know is taken for a new one of its family. */
const MODELS: readonly { readonly id: RegExp; readonly model: ClaudeModel }[] = [
  { id: /claude-(?:instant|2|3)\b/, model: BUDGET_MODEL },
  {
    id: /claude-(?:opus|sonnet)-4[-.]6(?!\d)/,
    model: { ...BUDGET_MODEL, highestEfforts: ["max"], takesFormat: true },
  },
  { id: /claude-(?:opus|sonnet|haiku)-4[-.][56](?!\d)/, model: { ...BUDGET_MODEL, takesFormat: true } },
  // 4.7 and later are of the new kind; eight digits after the 4 are a date, as in claude-sonnet-4-20250514.
  { id: /claude-(?:opus|sonnet|haiku)-4(?![-.][7-9](?!\d))/, model: BUDGET_MODEL },
  { id: /claude-(?:opus|sonnet|haiku|fable|mythos)-/, model: ADAPTIVE_MODEL },
];

/** Others that speak this protocol take what Claude first took. */
export function describeClaudeModel(id: string): ClaudeModel {
  return MODELS.find((entry) => entry.id.test(id))?.model ?? BUDGET_MODEL;
}

/** How the model is told to think: as configured, or by its name. An effort is this protocol's level. */
export function selectThinkingStyle({ id, thinkingStyle: style }: ModelConfig): ClaudeModel["thinking"] {
  if (style === undefined) return describeClaudeModel(id).thinking;
  return style === "budget" ? "budget" : "adaptive";
}
