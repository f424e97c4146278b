import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  ARTIFACT_TYPES,
  type ArtifactType,
  buildArtifactOutput,
} from "../../../src/apps/git/artifacts/artifact-types.ts";
import {
  createRandom,
  type JsonSchema,
  type Loss,
  type Mutate,
  type Mutator,
  nameLossless,
  pick,
} from "./mutator.ts";
import { CUTS } from "./mutators/cuts.ts";
import { PUNCTUATION } from "./mutators/punctuation.ts";
import { SCHEMA_FAULTS } from "./mutators/schema-faults.ts";
import { STRINGS } from "./mutators/strings.ts";
import { WRAPPING } from "./mutators/wrapping.ts";
import { writeArtifact } from "./valid-artifacts.ts";

export type SpoiltOutput = {
  readonly type: ArtifactType;
  readonly schema: JsonSchema;
  /** The name of the mutator, or of two joined by a plus sign. */
  readonly fault: string;
  readonly loss: Loss;
  readonly text: string;
  /** The valid value that the text was made from. */
  readonly original: unknown;
};

export const MUTATORS: readonly Mutator[] = [
  ...WRAPPING,
  ...STRINGS,
  ...PUNCTUATION,
  ...SCHEMA_FAULTS,
  ...CUTS,
];

/** Pairs that a careless author writes together; the second may be applied to what the first has made. */
const PAIRS = 12;

const TYPES = Object.keys(ARTIFACT_TYPES) as ArtifactType[];

export function getArtifactSchema(type: ArtifactType): JsonSchema {
  const output = buildArtifactOutput(type);
  if (output.type !== "json-schema") throw new Error(`${type} has no schema`);
  return output.schema;
}

/**
 * Writes outputs of all types, each spoilt by each mutator. The same seed gives the same ones.
 *
 * @param rounds - The number of valid outputs of a type for each mutator.
 */
export function buildCorpus(
  seed: number,
  rounds: number,
  mutators: readonly Mutator[] = MUTATORS,
): readonly SpoiltOutput[] {
  const lossless = mutators.filter(({ loss }) => loss === "none");
  return TYPES.flatMap((type, index) => {
    const schema = getArtifactSchema(type);
    const random = createRandom(seed * 1000 + index);
    const spoil = (name: string, loss: Loss, mutate: Mutate): SpoiltOutput[] => {
      const original = writeArtifact(type, random);
      const valid = JSON.stringify(original, null, pick(random, [0, 2]));
      const text = mutate(valid, random, schema);
      return text === valid ? [] : [{ type, schema, fault: name, loss, text, original }];
    };
    const single = mutators.flatMap(({ name, loss, mutate }) =>
      Array.from({ length: rounds }, () => spoil(name, loss, mutate)).flat(),
    );
    const pairs = Array.from({ length: rounds * PAIRS }, () => {
      const inner = pick(
        random,
        lossless.filter((one) => !WRAPPING.includes(one)),
      );
      const outer = pick(random, WRAPPING);
      return spoil(`${inner.name}+${outer.name}`, "none", (text, next, known) => {
        const spoilt = inner.mutate(text, next, known);
        return spoilt === text ? text : outer.mutate(spoilt, next, known);
      });
    }).flat();
    return [...single, ...pairs];
  });
}

const FURTHER = join(dirname(fileURLToPath(import.meta.url)), "further-mutators");

/** Imports the mutators of other authors (see further-mutators/README.md). */
export async function loadFurtherMutators(): Promise<readonly Mutator[]> {
  const files = readdirSync(FURTHER)
    .filter((name) => name.endsWith(".ts"))
    .sort();
  const modules = await Promise.all(
    files.map((name) => import(/* @vite-ignore */ pathToFileURL(join(FURTHER, name)).href)),
  );
  return modules.flatMap((exported: Record<string, unknown>) =>
    nameLossless(
      Object.fromEntries(
        Object.entries(exported)
          .filter((entry): entry is [string, Mutate] => typeof entry[1] === "function")
          // Loaders differ in the order of the exports.
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ),
  );
}
