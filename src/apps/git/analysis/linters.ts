import { z } from "zod";

/** A problem that a linter reports. */
export type LintFinding = {
  /** From the root of the repository, as far as the linter says so. */
  readonly path: string;
  /** Counts from 1; absent for a problem of a whole file. */
  readonly line?: number;
  readonly severity: "error" | "warning" | "info";
  readonly rule: string;
  readonly message: string;
};

export type Linter = {
  readonly name: string;
  /** The linter is used where one of these files is at the root of the repository. */
  readonly markers: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  /** Whether it takes files in place of the whole repository. */
  readonly takesFiles: boolean;
  /** The variable that names the folder to which it writes, which is in the repository by default. */
  readonly scratchVariable?: string;
  /** Reads its output. Throws if the output is none of its own. */
  readonly read: (output: string) => readonly LintFinding[];
};

const SEVERITIES: Readonly<Record<string, LintFinding["severity"]>> = {
  error: "error",
  critical: "error",
  blocker: "error",
  major: "warning",
  minor: "info",
  warning: "warning",
};

function toSeverity(word: string | undefined): LintFinding["severity"] {
  return SEVERITIES[word?.toLowerCase() ?? ""] ?? "info";
}

const RuffOutput = z.array(
  z.object({
    code: z.string().nullable().optional(),
    message: z.string(),
    filename: z.string(),
    location: z.object({ row: z.number() }),
  }),
);

const EslintOutput = z.array(
  z.object({
    filePath: z.string(),
    messages: z.array(
      z.object({
        ruleId: z.string().nullable(),
        severity: z.number(),
        message: z.string(),
        line: z.number().optional(),
      }),
    ),
  }),
);

const BiomeOutput = z.array(
  z.object({
    description: z.string(),
    check_name: z.string(),
    severity: z.string(),
    location: z.object({ path: z.string(), lines: z.object({ begin: z.number() }) }),
  }),
);

const OxlintOutput = z.object({
  diagnostics: z.array(
    z.object({
      message: z.string(),
      code: z.string().optional(),
      severity: z.string().optional(),
      filename: z.string(),
      labels: z.array(z.object({ span: z.object({ line: z.number().optional() }) })).default([]),
    }),
  ),
});

const GolangciOutput = z.object({
  Issues: z
    .array(
      z.object({
        FromLinter: z.string(),
        Text: z.string(),
        Severity: z.string().optional(),
        Pos: z.object({ Filename: z.string(), Line: z.number() }),
      }),
    )
    .nullable(),
});

/** Clippy prints a line for each message, of which those of the compiler are findings. */
const ClippyLine = z.object({
  reason: z.literal("compiler-message"),
  message: z.object({
    level: z.string(),
    message: z.string(),
    code: z.object({ code: z.string() }).nullable(),
    spans: z.array(z.object({ file_name: z.string(), line_start: z.number(), is_primary: z.boolean() })),
  }),
});

function readClippy(output: string): readonly LintFinding[] {
  return output.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const parsed = ClippyLine.safeParse(JSON.parse(line)).data?.message;
    const span = parsed?.spans.find(({ is_primary }) => is_primary);
    // A message without a place sums up the others.
    if (parsed === undefined || span === undefined) return [];
    return [
      {
        path: span.file_name,
        line: span.line_start,
        severity: toSeverity(parsed.level),
        rule: parsed.code?.code ?? "rustc",
        message: parsed.message,
      },
    ];
  });
}

const BIOME_MARKERS = ["biome.json", "biome.jsonc"];
const ESLINT_MARKERS = ["js", "mjs", "cjs", "ts", "mts", "cts"].map((ending) => `eslint.config.${ending}`);

/** In the order in which they run. Where biome or oxlint is configured, eslint may be as well. */
export const LINTERS: readonly Linter[] = [
  {
    name: "clippy",
    markers: ["Cargo.toml"],
    command: "cargo",
    args: ["clippy", "--quiet", "--offline", "--message-format=json"],
    takesFiles: false,
    scratchVariable: "CARGO_TARGET_DIR",
    read: readClippy,
  },
  {
    name: "ruff",
    markers: ["pyproject.toml", "ruff.toml", ".ruff.toml", "setup.py", "requirements.txt"],
    command: "ruff",
    args: ["check", "--output-format=json", "--no-cache", "--exit-zero"],
    takesFiles: true,
    read: (output) =>
      RuffOutput.parse(JSON.parse(output)).map(({ filename, location, code, message }) => ({
        path: filename,
        line: location.row,
        severity: "warning",
        rule: code ?? "syntax",
        message,
      })),
  },
  {
    name: "biome",
    markers: BIOME_MARKERS,
    command: "biome",
    args: ["lint", "--reporter=gitlab", "--max-diagnostics=500", "--colors=off", "--no-errors-on-unmatched"],
    takesFiles: true,
    read: (output) =>
      BiomeOutput.parse(JSON.parse(output)).map(({ location, severity, check_name, description }) => ({
        path: location.path,
        line: location.lines.begin,
        severity: toSeverity(severity),
        rule: check_name,
        message: description,
      })),
  },
  {
    name: "oxlint",
    markers: [".oxlintrc.json", "oxlint.json"],
    command: "oxlint",
    args: ["--format=json"],
    takesFiles: true,
    read: (output) =>
      OxlintOutput.parse(JSON.parse(output)).diagnostics.map(
        ({ filename, labels, severity, code, message }) => {
          const line = labels[0]?.span.line;
          return {
            path: filename,
            ...(line === undefined ? {} : { line }),
            severity: toSeverity(severity),
            rule: code ?? "oxlint",
            message,
          };
        },
      ),
  },
  {
    name: "eslint",
    markers: ESLINT_MARKERS,
    command: "eslint",
    args: ["--format=json", "--no-color"],
    takesFiles: true,
    read: (output) =>
      EslintOutput.parse(JSON.parse(output)).flatMap(({ filePath, messages }) =>
        messages.map(({ line, severity, ruleId, message }) => ({
          path: filePath,
          ...(line === undefined ? {} : { line }),
          severity: severity === 2 ? "error" : "warning",
          rule: ruleId ?? "syntax",
          message,
        })),
      ),
  },
  {
    name: "golangci-lint",
    markers: ["go.mod"],
    command: "golangci-lint",
    args: ["run", "--output.json.path=stdout", "--show-stats=false", "--issues-exit-code=0"],
    takesFiles: false,
    read: (output) =>
      (GolangciOutput.parse(JSON.parse(output)).Issues ?? []).map(({ Pos, Severity, FromLinter, Text }) => ({
        path: Pos.Filename,
        line: Pos.Line,
        severity: toSeverity(Severity === undefined || Severity === "" ? "warning" : Severity),
        rule: FromLinter,
        message: Text,
      })),
  },
];
