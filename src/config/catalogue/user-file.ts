import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { check } from "../../schema/check.ts";
import { resolveHome } from "../home.ts";
import { describeReadError } from "../read-text.ts";
import { parseToml } from "../source/parse-toml.ts";
import { toPlainValue } from "../source/source-node.ts";
import { Catalogue } from "./catalogue.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A user's own models file is unreadable or invalid. */
export class CatalogueError extends Error {
  override readonly name = "CatalogueError";
}

const price = z.number().nonnegative();
const rates = {
  input_per_million: price,
  output_per_million: price,
  cache_read_per_million: price.optional(),
  cache_write_per_million: price.optional(),
};
/** Uses the keys of [provider] in an agent file. */
const UserModel = z.strictObject({
  context_window: z.number().int().positive().optional(),
  max_tokens: z.number().int().positive().optional(),
  cost: z
    .strictObject({
      ...rates,
      dearer: z.strictObject({ above: z.number().int().positive(), ...rates }).optional(),
    })
    .optional(),
  thinking: z.enum(["budget", "adaptive", "effort", "level", "none"]).optional(),
  tools: z.boolean().optional(),
  images: z.boolean().optional(),
  pdf: z.boolean().optional(),
  structured_output: z.boolean().optional(),
  source: z.string().optional(),
  date: z.string().optional(),
});
const UserModels = z.strictObject({
  models: z.record(z.string(), UserModel).superRefine((models, context) => {
    for (const name of Object.keys(models)) {
      if (!/^[^/]+\/.+$/.test(name)) {
        context.addIssue({
          code: "custom",
          path: [name],
          message: "must have the form PROVIDER/ID, such as anthropic/ID",
        });
      }
    }
  }),
});

/** Returns `HOLDFAST_MODELS`, or else `models.toml` in the home folder. */
export function getModelsFile(env: Environment = process.env): string {
  return env["HOLDFAST_MODELS"] || join(resolveHome(env["HOLDFAST_HOME"]).folder, "models.toml");
}

/** Reads the built-in catalogue and the user's file. @throws CatalogueError if the file exists and is invalid. */
export function readCatalogue(env: Environment = process.env): Catalogue {
  const file = getModelsFile(env);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && !env["HOLDFAST_MODELS"]) return new Catalogue();
    throw new CatalogueError(
      `The models file ${file} cannot be read: ${describeReadError(error)}. Fix the path or the file, or unset HOLDFAST_MODELS.`,
    );
  }
  return new Catalogue(parseUserModels(text, file));
}

export function parseUserModels(text: string, file: string): readonly CatalogueEntry[] {
  const parsed = parseToml(text);
  if (!parsed.ok)
    throw new CatalogueError(`The models file ${file} is not valid TOML: ${parsed.problems[0]?.message}`);
  const checked = check(UserModels, toPlainValue(parsed.root), "file");
  if (checked.ok)
    return Object.entries(checked.value.models).map(([name, model]) => toEntry(name, model, file));
  const { problems } = checked;
  throw new CatalogueError(
    `The models file ${file} cannot be used: ${problems.join("; ")}. See docs/models.md for the format.`,
  );
}

function toEntry(written: string, own: z.infer<typeof UserModel>, file: string): CatalogueEntry {
  // Both OpenAI protocols serve the same models.
  const name = written.replace(/^openai-responses\//, "openai/");
  const slash = name.indexOf("/");
  const { cost, thinking, tools, images, pdf, source = file, date = "" } = own;
  return {
    name,
    provider: name.slice(0, slash),
    id: name.slice(slash + 1),
    ...(own.context_window !== undefined && { contextWindow: own.context_window }),
    ...(own.max_tokens !== undefined && { maxTokens: own.max_tokens }),
    ...(cost !== undefined && {
      cost: {
        ...toRates(cost),
        ...(cost.dearer !== undefined && { dearer: { above: cost.dearer.above, ...toRates(cost.dearer) } }),
      },
    }),
    ...(thinking !== undefined && { thinking }),
    ...(tools !== undefined && { tools }),
    ...(images !== undefined && { images }),
    ...(pdf !== undefined && { pdf }),
    ...(own.structured_output !== undefined && { structuredOutput: own.structured_output }),
    source,
    date,
  };
}

type UserRates = Omit<NonNullable<z.infer<typeof UserModel>["cost"]>, "dearer">;

function toRates({ input_per_million: input, output_per_million: output, ...cache }: UserRates) {
  const { cache_read_per_million: cacheRead = input, cache_write_per_million: cacheWrite = input } = cache;
  return { input, output, cacheRead, cacheWrite };
}
