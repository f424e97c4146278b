import type { ModelConfig, ThinkingLevel } from "../schema/model.ts";

// The capabilities of OpenAI's models, as far as only their names tell.

/** Reasoning models, also through a router (`openai/gpt-6-sol`) and as a deployment with the model's name. */
const REASONING_MODELS = /(?:^|\/)(?:o\d|gpt-(?:5|[6-9]|\d\d))/;

/** `chat` models are those of ChatGPT, which answer at once. */
const PLAIN_MODELS = /(?:^|\/)(?:gpt-[34]|chatgpt)|-chat(?:-|$)/;

export function isReasoningModel(modelId: string): boolean {
  return REASONING_MODELS.test(modelId) && !isPlainModel(modelId);
}

/** Returns whether the model is known not to reason; for other models nothing is known. */
export function isPlainModel(modelId: string): boolean {
  return PLAIN_MODELS.test(modelId);
}

type Effort = NonNullable<ModelConfig["effort"]>;

/** In ascending order. The API has one more, `max`, which a few models accept. */
const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

const effortRange = (first: Effort, last: Effort): readonly Effort[] =>
  EFFORTS.slice(EFFORTS.indexOf(first), EFFORTS.indexOf(last) + 1);
const USUAL_EFFORTS = effortRange("low", "high");
const NEWER_EFFORTS: readonly Effort[] = ["none", ...effortRange("low", "xhigh")];

const GPT_5 = 500;
const GPT_5_1 = 501;

/** Lists the efforts that the API accepts for a model; for unknown names those that nearly all accept. */
function listEfforts(modelId: string): readonly Effort[] {
  const [, major = "0", minor = "0", kind = ""] = /(?:^|\/)gpt-(\d+)(?:\.(\d+))?(.*)$/.exec(modelId) ?? [];
  const version = Number(major) * 100 + Number(minor);
  if (version < GPT_5) return USUAL_EFFORTS;
  if (kind.includes("-pro")) return version === GPT_5 ? ["high"] : effortRange("medium", "xhigh");
  // These models always reason.
  if (kind.includes("-codex"))
    return version > GPT_5_1 || kind.includes("-max") ? effortRange("low", "xhigh") : USUAL_EFFORTS;
  if (version === GPT_5) return effortRange("minimal", "high");
  return version === GPT_5_1 ? NEWER_EFFORTS.slice(0, -1) : NEWER_EFFORTS;
}

/** `off` sends no effort, and the model decides how much it reasons (THK-02, THK-03). */
const EFFORT_BY_LEVEL: Readonly<Record<ThinkingLevel, Effort | undefined>> = {
  off: undefined,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "xhigh",
};

/**
 * Selects the configured effort, else the one for the thinking level: the nearest that the model accepts, upward first.
 * `none` is omitted if the model does not accept it.
 */
export function selectEffort({ id, effort }: Pick<ModelConfig, "id" | "effort">, level: ThinkingLevel) {
  const configured = effort ?? EFFORT_BY_LEVEL[level];
  if (configured === undefined) return undefined;
  const efforts = listEfforts(id);
  if (configured === "none") return efforts.includes(configured) ? configured : undefined;
  const wanted = EFFORTS.indexOf(configured);
  return efforts.find((one) => EFFORTS.indexOf(one) >= wanted) ?? efforts.at(-1);
}
