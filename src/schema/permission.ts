import { z } from "zod";
import { ReplayClass } from "./tool.ts";

// What an agent may do without approval. src/core/permission/permission.ts decides from the facts of
// src/core/permission/call-facts.ts; the meaning of each field is documented here, for authors.

/** What happens to a call: it runs, it waits for approval, or its result is an error. */
export const PermissionOutcome = z.enum(["allow", "ask", "deny"]);
export type PermissionOutcome = z.infer<typeof PermissionOutcome>;

const oneOrMore = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([schema, z.array(schema).min(1)]);

/** A name, or a glob of names: `*` stands for any characters, `?` for one. */
const NameGlob = z.string().min(1);

/**
 * A glob of paths: `*` stands for any characters but `/`, `?` for one, `**` for any characters, `**` + `/` for any number of
 * folders, including none. `src/**` and `src/` mean the folder and everything below it. Relative globs refer to the
 * workspace and match nothing outside; absolute ones (`/etc/**`) are compared with the real path, with links resolved.
 */
const PathGlob = z
  .string()
  .min(1)
  .refine((glob) => !/(^|\/)\.\.(\/|$)/.test(glob), {
    message: 'must not contain ".."; write an absolute glob for a path outside the workspace',
  })
  .refine((glob) => !glob.startsWith("~"), {
    message: 'must not begin with "~"; write the home folder in full',
  });

/**
 * The first words of a command, separated by spaces: `git status` matches `git status --short`, not `git stash`.
 * Words are compared whole and as the shell would parse them, so quotes, escapes and wildcards are not allowed here.
 */
const CommandPrefix = z
  .string()
  .regex(/\S/, "must hold at least one word")
  .refine((prefix) => !/[;&|<>$`'"\\()*?]/.test(prefix), {
    message:
      "must be plain words, such as `git status`; a prefix needs no wildcard, and each command of a list is decided separately",
  });

/**
 * A host: `api.example.com`, `*.example.com` for every name below it but not itself, `*` for all; each optionally with a
 * port, as in `localhost:8080`. Hosts are compared by name: another name of the same machine is another host.
 */
const HostGlob = z
  .string()
  .max(260)
  .regex(/^(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/, {
    message:
      "must be a host such as `api.example.com`, `*.example.com` or `localhost:8080`, without scheme and path",
  });

/**
 * One rule. An absent condition matches everything; a rule matches when all of its conditions do. A list in a
 * condition means any of its members.
 *
 * Each command of a pipe or list, and each path of a call without commands, is decided separately, by the first rule that
 * matches it; the call gets the strictest of these outcomes. What is uncertain (a command that does
 * not parse, substitution, `eval`, …) never matches an `allow` rule.
 */
export const PermissionRule = z.strictObject({
  /** The tool's name, or a glob of names. */
  tool: oneOrMore(NameGlob).optional().describe("The tool's name, or a glob of names."),
  /** The agent's name, or a glob of names. */
  agent: oneOrMore(NameGlob).optional().describe("The agent's name, or a glob of names."),
  /** The tool's replay class: `pure` tools only read, `unsafe` ones must not run twice. */
  replay: oneOrMore(ReplayClass)
    .optional()
    .describe("The tool's replay class: `pure` tools only read, `unsafe` ones must not run twice."),
  /**
   * Files that the call touches. `ask` and `deny` match when one of them matches. `allow` never matches a shell command by
   * this condition: a command touches more files than its redirects, which are the only ones that the facts contain.
   */
  path: oneOrMore(PathGlob).optional().describe("Globs of files that the call touches."),
  /** How a shell command begins. Any words may follow; `ask` and `deny` also match the program by its last path part. */
  command: oneOrMore(CommandPrefix).optional().describe("The first words of a shell command."),
  /**
   * Hosts that the call reaches: of MCP servers over HTTP, API operations, tools that report them, and addresses in shell
   * commands. `ask` and `deny` match when one of them may match; a program that may reach any host (`git push`) is matched
   * by `*`. `allow` matches when all of them match; of shell commands, only plain calls of curl and wget.
   */
  host: oneOrMore(HostGlob).optional().describe("Hosts that the call reaches."),
  /** What happens to a call that matches. */
  outcome: PermissionOutcome.describe(
    "What happens to a call that matches: it runs, waits for approval, or fails.",
  ),
  /** For the record, for the user who is asked, and for the model when the call is denied. */
  reason: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe("For the record, for the user who is asked, and for the model when the call is denied."),
});
export type PermissionRule = z.infer<typeof PermissionRule>;

/** Ordered rules: the first that matches decides. */
export const PermissionPolicy = z.strictObject({
  rules: z
    .array(PermissionRule)
    .default([])
    .describe("The rules, in order: the first that matches a call decides."),
  otherwise: z
    .enum([...PermissionOutcome.options, "ask-unsafe", "always-ask-unsafe", "deny-unsafe"])
    .default("ask-unsafe")
    .describe(
      "The decision when no rule matches. `ask-unsafe`, the default, asks for tools of replay class `unsafe` when a user is available (the run is interactive), and otherwise allows. `always-ask-unsafe` asks for them in every run, and `deny-unsafe` denies them; both allow other tools. If a policy has rules, an uncertain call is asked for instead of allowed, because a rule may forbid it.",
    ),
});
export type PermissionPolicy = z.infer<typeof PermissionPolicy>;
/** The input from an author: fields with a default are optional. */
export type PermissionPolicyInput = z.input<typeof PermissionPolicy>;
