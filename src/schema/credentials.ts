import { z } from "zod";

/** How long a command may take, in seconds: one that signs in somewhere needs a few. */
const DEFAULT_TIMEOUT_SECONDS = 30;

/** Where the value of one `${NAME}` comes from: one of the four. */
export const Credential = z
  .strictObject({
    /** A program and its words; no shell reads them. It prints the value, or `{"value": …, "expiresAt": …}`. */
    command: z.array(z.string().min(1)).min(1).optional(),
    /** Of a command. */
    timeoutSeconds: z.number().positive().max(600).default(DEFAULT_TIMEOUT_SECONDS),
    /** Of a command that names no end: it is asked again after this. Absent: only when the value is refused. */
    keepSeconds: z.number().positive().optional(),
    /** A path. Read again when the file has changed. */
    file: z.string().min(1).optional(),
    /** Another name in the worker's environment. */
    environment: z.string().min(1).optional(),
    /** The value itself. */
    value: z
      .string()
      .min(1)
      .refine((value) => !value.startsWith("${"), "must be the value itself; for an environment variable, use environment")
      .optional(),
  })
  .refine(
    ({ command, file, environment, value }) =>
      [command, file, environment, value].filter((one) => one !== undefined).length === 1,
    "specify exactly one of command, file, environment and value",
  );
export type Credential = z.infer<typeof Credential>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** By the names that definitions use in `${NAME}`. */
export const Credentials = z.record(z.string().regex(NAME, "a name consists of letters, digits and _, and does not begin with a digit"), Credential);
export type Credentials = z.infer<typeof Credentials>;
/** What an operator writes: everything with a default may be left out. */
export type CredentialsInput = z.input<typeof Credentials>;
