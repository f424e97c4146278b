import { formatExpected } from "../../../schema/check.ts";
import { BodyLine, EndLine, EXPORT_VERSION, HeaderLine } from "../../../schema/export-line.ts";
import { ExportChecker } from "./export-checker.ts";
import { ExportError } from "./export-error.ts";
import { LineChecksums } from "./line-checksums.ts";
import { BodyDigest } from "./write-export.ts";

/** One line contains one message. Longer texts exceed JavaScript's limit. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

export type ExportRead =
  | { readonly type: "header"; readonly header: HeaderLine }
  | { readonly type: "line"; readonly line: BodyLine }
  /** The file is complete and unchanged. */
  | { readonly type: "end"; readonly digest: string; readonly lines: number };

/** Reads the lines of a file and checks each before returning it. Throws `ExportError` at the first invalid line. */
export async function* readExport(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ExportRead, void, void> {
  const sums = new LineChecksums();
  const digest = new BodyDigest();
  let check: ExportChecker | undefined;
  let number = 0;
  let ended = false;
  for await (const text of readTextLines(bytes)) {
    number += 1;
    if (ended) throw new ExportError(number, "the file continues after its last line");
    const digestBefore = sums.digest;
    const body = sums.verifyChecksum(text);
    if (check === undefined) {
      const header = parseHeader(text, body);
      check = new ExportChecker(header.sessions);
      yield { type: "header", header };
      continue;
    }
    if (body === undefined) {
      throw new ExportError(
        number,
        "its checksum is wrong: the line was changed, or lines before it are missing or moved",
      );
    }
    const value = parseLine(body, number);
    if (value.type === "end") {
      const end = EndLine.safeParse(value);
      if (!end.success || end.data.lines !== number - 1 || end.data.sha256 !== digestBefore) {
        throw new ExportError(number, "the file's digest is wrong: it was changed or reassembled");
      }
      withLineNumber(number, () => check?.checkEnd());
      ended = true;
      yield { type: "end", digest: digest.value, lines: number };
      continue;
    }
    const line = BodyLine.safeParse(value, { error: formatExpected });
    if (!line.success) throw new ExportError(number, formatIssues(line.error.issues, value.type));
    digest.add(body);
    withLineNumber(number, () => check?.checkLine(line.data));
    yield { type: "line", line: line.data };
  }
  if (number === 0) throw new ExportError(1, "the file is empty");
  if (!ended) throw new ExportError(number + 1, "the file is truncated: its last line is missing");
}

function parseHeader(text: string, body: string | undefined): HeaderLine {
  const value = (() => {
    try {
      return JSON.parse(text) as { type?: unknown; version?: unknown };
    } catch {
      return {};
    }
  })();
  if (value.type !== "holdfast-export") throw new ExportError(1, "this is not a Holdfast export");
  if (typeof value.version === "number" && value.version > EXPORT_VERSION) {
    throw new ExportError(
      1,
      `the file has version ${value.version}, but this Holdfast reads versions up to ${EXPORT_VERSION}: update it, or export the ` +
        "session again at its source with this version",
    );
  }
  if (typeof value.version === "number" && value.version < EXPORT_VERSION) {
    throw new ExportError(
      1,
      `the file has version ${value.version}, which was never released; this Holdfast reads version ${EXPORT_VERSION}`,
    );
  }
  const header = HeaderLine.safeParse(value);
  if (body === undefined || !header.success) throw new ExportError(1, "the first line was changed");
  return header.data;
}

function parseLine(body: string, number: number): { readonly type?: unknown } {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    throw new ExportError(number, `it is not JSON: ${(error as Error).message}`);
  }
}

function formatIssues(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  type: unknown,
): string {
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? "" : ` ${first.path.join(".")}:`;
  return `"${String(type)}" is invalid:${where} ${first?.message ?? ""}`;
}

function withLineNumber(number: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new ExportError(number, (error as Error).message);
  }
}

/** Reads lines of UTF-8, for any division into chunks. */
async function* readTextLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 1;
  for await (const chunk of bytes) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      yield Buffer.concat(parts).toString("utf8");
      number += 1;
      parts = [];
      size = 0;
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (size > MAX_LINE_BYTES) throw new ExportError(number, `it is longer than ${MAX_LINE_BYTES} bytes`);
    if (rest.length > 0) parts.push(Buffer.from(rest));
  }
  if (parts.length > 0) yield Buffer.concat(parts).toString("utf8");
}
