import { relative } from "node:path";
import type {
  Reporter,
  TestCase,
  TestModule,
  TestRunEndReason,
  TestSpecification,
  TestSuite,
  Vitest,
} from "vitest/node";

const NOT_SELECTED = "not selected by the name or line on the command line";

/** A run with `test.only` skips all other tests of its files. */
const LISTED_TESTS = 20;

/**
 * Prints at the end of a run how many tests were skipped, grouped by reason. A skipped test without a reason fails the run.
 *
 * Prints to standard error, because the JSON reporter may own standard output.
 */
export class SkipReporter implements Reporter {
  #isFiltered = false;
  #root = "";

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#isFiltered ||= specifications.some(({ testLines = [] }) => testLines.length > 0);
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    _errors: readonly unknown[],
    reason: TestRunEndReason,
  ): Promise<void> {
    // Other reporters print their summaries first.
    await new Promise((resolve) => setImmediate(resolve));
    const { counts, unexplained } = this.#countSkips(modules);
    process.stderr.write(formatSkips(counts));
    // A suite whose preparation fails, and a run that is interrupted, skip what is left of their tests.
    if (unexplained.length === 0 || reason !== "passed") return;
    process.stderr.write(this.#formatUnexplained(unexplained));
    process.exitCode = 1;
  }

  #countSkips(modules: readonly TestModule[]) {
    const counts = new Map<string, number>();
    const unexplained: TestCase[] = [];
    for (const test of modules.flatMap(({ children }) => [...children.allTests()])) {
      if (!isSkipped(test)) continue;
      const reason = findReason(test) ?? (this.#isFiltered ? NOT_SELECTED : undefined);
      if (reason === undefined) unexplained.push(test);
      else counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    return { counts, unexplained };
  }

  #formatUnexplained(tests: readonly TestCase[]): string {
    const lines = tests
      .slice(0, LISTED_TESTS)
      .map((test) => `  ${relative(this.#root, test.module.moduleId)}: ${test.fullName}\n`);
    return `\n${countTests(tests.length)} skipped without a reason, so this run fails. Skip a test by testIf or describeIf of test/support/skipping.ts, and remove test.only:\n${lines.join("")}`;
  }
}

/** Vitest leaves the tests of a skipped suite in a skipped suite pending. */
function isSkipped(test: TestCase): boolean {
  const { state } = test.result();
  return state === "skipped" || state === "pending";
}

/** Finds the reason of a test, or of the nearest suite around it. */
function findReason(test: TestCase): string | undefined {
  const result = test.result();
  if (result.state === "skipped" && result.note !== undefined) return result.note;
  let task: TestCase | TestSuite | TestModule = test;
  while (task.type !== "module") {
    const { skipReason } = task.meta();
    if (skipReason !== undefined) return skipReason;
    task = task.parent;
  }
  return undefined;
}

function formatSkips(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort(([, one], [, other]) => other - one);
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return "\nNo test was skipped.\n";
  const lines = rows.map(([reason, count]) => `${String(count).padStart(7)}  ${reason}`);
  return `\n${countTests(total)} skipped:\n${lines.join("\n")}\n`;
}

function countTests(count: number): string {
  return count === 1 ? "1 test was" : `${count} tests were`;
}
