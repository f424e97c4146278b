import type { ImportDuration } from "vitest";
import { VitestTestRunner } from "vitest/runners";

/**
 * Vitest's own runner, without the time that each import took: after each file it would list all modules of the process and
 * send them to the main process, 150 MB in a run of all tests.
 */
export default class TestRunner extends VitestTestRunner {
  override getImportDurations(): Record<string, ImportDuration> {
    return {};
  }
}
