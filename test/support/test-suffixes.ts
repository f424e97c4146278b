import type { TestProject } from "vitest/node";

/** The suffix of a test file specifies the servers that it needs: `x.server.test.ts` needs Temporal, and so on. */
export const SERVER_SUFFIXES = ["server", "postgres", "crash"] as const;

type Suffix = (typeof SERVER_SUFFIXES)[number];

const hasSuffix = (path: string, suffixes: readonly Suffix[]) =>
  suffixes.some((suffix) => path.endsWith(`.${suffix}.test.ts`));

/** Reports whether this run of vitest, with its file filters, has a test file with one of the suffixes. */
export async function hasTestsFor(project: TestProject, suffixes: readonly Suffix[]): Promise<boolean> {
  // Vitest's type does not declare the filters.
  const { filenamePattern } = project.vitest as unknown as { readonly filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  return testFiles.some((path) => hasSuffix(path, suffixes));
}
