import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They run for seconds each, the slowest last. */
export const SLOWEST = [
  "filters.test.ts",
  "view-tools.test.ts",
  "properties.test.ts",
  "nudges.test.ts",
  "long-session.test.ts",
  "transitions.test.ts",
];

/** A mutant is dead with the first test that fails: it should be a quick one. */
export default class LightFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId }: TestSpecification) => SLOWEST.indexOf(basename(moduleId));
    return files.toSorted((one, other) => weight(one) - weight(other));
  }
}
