import { z } from "zod";

/** The time limit of a command in seconds: a command that signs in somewhere needs a few. */
const DEFAULT_TIMEOUT_SECONDS = 30;

/** The source of the value of one `${NAME}`: exactly one of the four. */
export const Credential = z
  .strictObject({
    /** A program and its arguments, without a shell. It prints the value, or `{"value": …, "expiresAt": …}`. */
    command: z.array(z.string().min(1)).min(1).optional(),
    /** The time limit of a command. */
    timeoutSeconds: z.number().positive().max(600).default(DEFAULT_TIMEOUT_SECONDS),
    /** When a command returns no expiry, it runs again after this time. Absent: only when the value is rejected. */
    keepSeconds: z.number().positive().optional(),
    /** A path. The file is read again when it has changed. */
    file: z.string().min(1).optional(),
    /** The name of another variable in the worker's environment. */
    environment: z.string().min(1).optional(),
    /** The value itself. */
    value: z
      .string()
      .min(1)
      .refine(
        (value) => !value.startsWith("${"),
        "must be the value itself; for an environment variable, use environment",
      )
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
export const Credentials = z.record(
  z.string().regex(NAME, "a name consists of letters, digits and _, and does not begin with a digit"),
  Credential,
);
export type Credentials = z.infer<typeof Credentials>;
/** The input from an operator: fields with a default are optional. */
export type CredentialsInput = z.input<typeof Credentials>;
