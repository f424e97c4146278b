import type { TestProject } from "vitest/node";

/** What a test needs stands in its file's suffix: `x.server.test.ts` asks for Temporal, and so on. */
export const SERVER_SUFFIXES = ["server", "postgres", "crash"] as const;

type Suffix = (typeof SERVER_SUFFIXES)[number];

const hasSuffix = (path: string, suffixes: readonly Suffix[]) =>
  suffixes.some((suffix) => path.endsWith(`.${suffix}.test.ts`));

/** Whether this run of vitest, with the file filters of its command line, has a file with one of the suffixes. */
export async function hasTestsFor(project: TestProject, suffixes: readonly Suffix[]): Promise<boolean> {
  // Vitest keeps the filters to itself: its type does not declare them.
  const { filenamePattern } = project.vitest as unknown as { readonly filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  return testFiles.some((path) => hasSuffix(path, suffixes));
}
