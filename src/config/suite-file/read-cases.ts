import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { formatCanonicalJson } from "../../platform/text/canonical-json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { formatExpected } from "../../schema/check.ts";
import { SuiteCase } from "../../schema/suite.ts";
import { describeSchemaIssues, type ProblemPlace } from "../describe-schema-issues.ts";
import { formatProblem, type Problem } from "../problem.ts";
import { describeReadError, readTextFile } from "../read-text.ts";
import type { Path } from "../source/source-node.ts";
import type { CaseSource } from "./case-row.ts";
import { CaseTable, type SuiteCaseTable } from "./suite-file-schema.ts";
import { explainForbiddenPath, type SuiteFolder } from "./suite-folder.ts";

/** A case, or the problems of its row. */
export type CaseResult =
  | { readonly ok: true; readonly value: SuiteCase }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The cases of a suite cannot be read to their end. */
export class SuiteCaseError extends Error {
  override readonly name = "SuiteCaseError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join("\n"));
    this.problems = problems;
  }
}

/** The cases of a suite before they are read. */
export type UnreadCases = {
  readonly source: CaseSource;
  /** What the paths of files in the cases are relative to. */
  readonly folder: SuiteFolder;
  /** How problems name the source. */
  readonly name: string;
};

/** Reads cases one by one. A row with a problem does not end the reading. */
export async function* readCases({ source, folder, name }: UnreadCases): AsyncGenerator<CaseResult> {
  const ids = new CaseIds();
  let isEmpty = true;
  for await (const row of source()) {
    isEmpty = false;
    yield "problem" in row ? { ok: false, problems: [row.problem] } : toCase(row.value, row, { folder, ids });
  }
  if (isEmpty) {
    const message = "the suite has no cases";
    yield { ok: false, problems: [{ kind: "mistake", severity: "error", file: name, message }] };
  }
}

type CaseContext = { readonly folder: SuiteFolder; readonly ids: CaseIds };

function toCase(value: unknown, place: ProblemPlace, { folder, ids }: CaseContext): CaseResult {
  const parsed = CaseTable.safeParse(value, { error: formatExpected });
  if (!parsed.success)
    return { ok: false, problems: describeSchemaIssues(parsed.error.issues, place, CaseTable) };
  const { id, input, files, fork, expected, metadata, tags } = parsed.data as SuiteCaseTable;
  const problems: Problem[] = [];
  const report = (path: Path, message: string): void => {
    problems.push(place.createProblem(path, { kind: "invalid-field", severity: "error", message }));
  };
  if (input === undefined && fork === undefined)
    report(["input"], "is missing; it must be a text, or a list of texts");
  if (tags !== undefined && metadata?.["tags"] !== undefined)
    report(["tags"], "stands twice: `tags` are stored as `metadata.tags`, which this case has too");
  const texts = Object.entries(files ?? {}).map(([path, text]) => {
    if (typeof text === "string") return [path, text];
    const read = readText(folder, text.from);
    if ("message" in read) report(["files", path, "from"], read.message);
    return [path, "text" in read ? read.text : ""];
  });
  const content = {
    messages: input === undefined ? [] : typeof input === "string" ? [input] : input,
    ...omitUndefined({ files: files === undefined ? undefined : Object.fromEntries(texts), fork }),
  };
  const named = id === undefined ? ids.create(content) : String(id);
  if (id !== undefined && !ids.add(named)) report(["id"], `another case before has the id "${named}"`);
  if (problems.length > 0) return { ok: false, problems };
  const facts = tags === undefined ? metadata : { ...metadata, tags };
  return {
    ok: true,
    value: SuiteCase.parse({ id: named, ...content, ...omitUndefined({ expected, metadata: facts }) }),
  };
}

function readText(
  folder: SuiteFolder,
  path: string,
): { readonly text: string } | { readonly message: string } {
  const forbidden = explainForbiddenPath(folder, path);
  if (forbidden !== undefined) return { message: forbidden };
  try {
    return { text: readTextFile(resolve(folder.path, path)) };
  } catch (error) {
    return { message: `${path} cannot be read: ${describeReadError(error)}` };
  }
}

/** Characters of a hash in the id of a case: 60 bits, so that a million cases have different ones. */
const ID_CHARS = 15;
/** Bytes of a hash that stands for an id in memory. */
const HASH_BYTES = 12;

/** The ids that a reading of the cases has given and seen, as hashes, because there may be millions. */
class CaseIds {
  readonly #seen = new Set<string>();
  /** The number of the last case with the same content, for contents that occur several times. */
  readonly #repeated = new Map<string, number>();

  /** @returns Whether the id is new. */
  add(id: string): boolean {
    const size = this.#seen.size;
    this.#seen.add(createHash("sha256").update(id).digest().subarray(0, HASH_BYTES).toString("latin1"));
    return this.#seen.size > size;
  }

  /** Creates the id of a case without one: the hash of its content, with a number if other cases have the same content. */
  create(content: unknown): string {
    const hash = createHash("sha256").update(formatCanonicalJson(content)).digest("hex").slice(0, ID_CHARS);
    const id = `case-${hash}`;
    if (this.add(id)) return id;
    for (let number = (this.#repeated.get(id) ?? 1) + 1; ; number += 1) {
      if (!this.add(`${id}-${number}`)) continue;
      this.#repeated.set(id, number);
      return `${id}-${number}`;
    }
  }
}
