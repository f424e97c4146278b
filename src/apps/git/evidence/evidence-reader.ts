/** What a repository has at a path of a commit. */
type FileAtCommit =
  | { readonly type: "text"; readonly lines: readonly string[] }
  /** `reason` is the end of a sentence, such as "is a binary file". */
  | { readonly type: "unreadable"; readonly reason: string };

/**
 * Reads files of a repository at a commit. An implementation resolves the commit itself, and treats it and the path as
 * text of unknown origin: a model has written both.
 */
export type EvidenceReader = {
  readonly readFile: (commit: string, path: string) => Promise<FileAtCommit>;
};

/** Reads each file once, however many references name it. */
export function cacheReader({ readFile }: EvidenceReader): EvidenceReader {
  const files = new Map<string, Promise<FileAtCommit>>();
  return {
    readFile: (commit, path) => {
      const key = `${commit}:${path}`;
      const known = files.get(key) ?? readFile(commit, path);
      files.set(key, known);
      return known;
    },
  };
}
