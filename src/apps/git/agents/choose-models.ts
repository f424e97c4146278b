import { HoldfastError, listModels, type ModelConfig, parseModel } from "../../../client/index.ts";

/** The models of a run: `main` does the work, `fast` that of sub-agents, unless a setting says otherwise. */
export type Models = { readonly main: ModelConfig; readonly sub: ModelConfig };

export type ModelChoice = {
  /** A model's full name, such as `anthropic/claude-opus-5-5`. By default that of `provider`. */
  readonly model?: string | undefined;
  /** `anthropic`, `openai`, or `google`, which is also called `gemini`. By default the first whose key is there. */
  readonly provider?: string | undefined;
  /** Sub-agents use the vendor's `fast` model, which is the default, the `main` model, or the model of this name. */
  readonly subagentModel?: string | undefined;
  /** Another address of the vendor's API. */
  readonly baseUrl?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Which of a vendor's models are meant by "the main one" and "the fast one": the newest of a family (IRIS-32). */
type Family = {
  /** The name in front of a model's id. */
  readonly prefix: string;
  readonly keys: readonly string[];
  readonly main: RegExp;
  readonly fast: RegExp;
};

/** In the order in which keys are looked for. The groups of a pattern are the version. */
const FAMILIES = {
  anthropic: {
    prefix: "anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    main: /^claude-opus-(\d+)(?:-(\d+))?$/,
    fast: /^claude-haiku-(\d+)(?:-(\d+))?$/,
  },
  openai: {
    prefix: "openai-responses",
    keys: ["OPENAI_API_KEY"],
    main: /^gpt-(\d+)(?:\.(\d+))?(?:-sol)?$/,
    fast: /^gpt-(\d+)(?:\.(\d+))?-(?:luna|mini)$/,
  },
  google: {
    prefix: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    main: /^gemini-(\d+)(?:\.(\d+))?-pro(?:-preview)?$/,
    fast: /^gemini-(\d+)(?:\.(\d+))?-flash$/,
  },
} as const satisfies Record<string, Family>;

type Vendor = keyof typeof FAMILIES;

/** Chooses the models of a run: by name, or the newest ones of a vendor that the catalogue knows. */
export function chooseModels(choice: ModelChoice): Models {
  const { subagentModel = "fast", env } = choice;
  const options = choice.baseUrl === undefined ? {} : { baseUrl: choice.baseUrl };
  const name = choice.model ?? (choice.provider === undefined ? env["HOLDFAST_MODEL"] : undefined);
  const isNamed = name !== undefined && name !== "";
  const main = parseModel(isNamed ? name : findNewest(resolveVendor(choice), "main"), options);
  if (subagentModel === "main") return { main, sub: main };
  if (subagentModel !== "fast") return { main, sub: parseModel(subagentModel, options) };
  const fast = findFastModel(main);
  return { main, sub: fast === undefined ? main : parseModel(fast, options) };
}

/** Returns the fast model of the vendor of another one, in the same protocol; `undefined` for a vendor without one. */
function findFastModel({ provider, api }: ModelConfig): string | undefined {
  if (!isVendor(provider)) return undefined;
  const name = findNewest(provider, "fast");
  return api === "openai_completions" ? name.replace(/^openai-responses\//, "openai/") : name;
}

function resolveVendor({ provider, env }: ModelChoice): Vendor {
  if (provider !== undefined) {
    const name = provider === "gemini" ? "google" : provider;
    if (isVendor(name)) return name;
    throw new HoldfastError(
      "definition-invalid",
      `Unsupported provider: ${provider}. Use ${Object.keys(FAMILIES).join(", ")}, or name a model with --model.`,
    );
  }
  const found = Object.entries(FAMILIES).find(([, { keys }]) =>
    keys.some((key) => (env[key] ?? "") !== ""),
  )?.[0];
  if (found !== undefined && isVendor(found)) return found;
  const keys = Object.values(FAMILIES).flatMap((family) => family.keys);
  throw new HoldfastError(
    "definition-invalid",
    `No model is given, and none of ${keys.join(", ")} is set. Set the key of your vendor, or name a model with --model or HOLDFAST_MODEL.`,
  );
}

function isVendor(name: string): name is Vendor {
  return Object.hasOwn(FAMILIES, name);
}

function findNewest(vendor: Vendor, role: "main" | "fast"): string {
  const { prefix, [role]: pattern } = FAMILIES[vendor];
  const versions = listModels().flatMap(({ provider, id }) => {
    const match = provider === vendor ? pattern.exec(id) : null;
    return match === null ? [] : [{ id, major: Number(match[1]), minor: Number(match[2] ?? 0) }];
  });
  const [newest] = versions.toSorted((a, b) => b.major - a.major || b.minor - a.minor);
  if (newest !== undefined) return `${prefix}/${newest.id}`;
  throw new HoldfastError(
    "definition-invalid",
    `The model catalogue knows no ${role} model of ${vendor}. Name one with --model.`,
  );
}
