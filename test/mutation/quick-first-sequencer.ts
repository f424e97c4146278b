import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest last. */
const SLOW_FILES = [
  "prune.test.ts",
  "filters.test.ts",
  "nudges.test.ts",
  "view-tools.test.ts",
  "properties.test.ts",
  "long-session.test.ts",
  "transitions.test.ts",
];

/** They run for five seconds and more, and kill next to nothing that the others leave. */
export const SLOWEST = SLOW_FILES.slice(-2);

/** A mutant is dead with the first test that fails: it should be a quick one. */
export default class QuickFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const getWeight = ({ moduleId }: TestSpecification) => SLOW_FILES.indexOf(basename(moduleId));
    return files.toSorted((one, other) => getWeight(one) - getWeight(other));
  }
}
