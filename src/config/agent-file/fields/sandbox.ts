import { z } from "zod";
import { isObject } from "../../../platform/text/json.ts";
import {
  SandboxBoundSettings,
  SandboxMode,
  SandboxNetwork,
  SandboxSettings,
} from "../../../schema/sandbox.ts";
import { DEFAULT_SANDBOX_MODE } from "../../sandbox.ts";
import { buildShape, defineField, describeKey, type Field } from "../define-field.ts";

// The section [sandbox]: where processes of tools, hooks and servers run. See docs/sandbox.md.

const { mode, readable, writable, env } = SandboxSettings.shape;
const { allow, ask } = SandboxNetwork.shape;

/** The value of `sandbox` that leaves the sandbox to the worker, in a file whose [sandbox] states another. */
export const WORKER_SANDBOX = "worker";

const ShortForm = z.enum([...SandboxMode.options, WORKER_SANDBOX]);

/** Lists of the file; a definition has an empty one by default. */
const OMIT_EMPTY = {
  write: (value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value),
} as const;

const LONG_FIELDS: readonly Field[] = [
  defineField("sandbox.mode", "sandbox.mode", describeKey(mode, mode.description, DEFAULT_SANDBOX_MODE)),
  defineField(
    "sandbox.network.allow",
    "sandbox.network.allow",
    describeKey(allow.unwrap(), allow.description, []),
    OMIT_EMPTY,
  ),
  defineField("sandbox.network.ask", "sandbox.network.ask", describeKey(ask.unwrap(), ask.description)),
  defineField(
    "sandbox.readable",
    "sandbox.readable",
    describeKey(readable.unwrap(), readable.description, []),
    OMIT_EMPTY,
  ),
  defineField(
    "sandbox.writable",
    "sandbox.writable",
    describeKey(writable.unwrap(), writable.description, []),
    OMIT_EMPTY,
  ),
  defineField("sandbox.env", "sandbox.env", describeKey(env.unwrap(), env.description, []), OMIT_EMPTY),
  ...Object.entries(SandboxBoundSettings.shape).map(([name, value]) =>
    defineField(
      `sandbox.bounds.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      `sandbox.bounds.${name}`,
      describeKey(value.unwrap(), value.description),
    ),
  ),
];

export const SANDBOX_FIELDS: readonly Field[] = [
  defineField(
    "sandbox",
    "sandbox.mode",
    describeKey(
      ShortForm,
      `Where processes of tools, hooks and servers run. \`sandbox = MODE\` is short for a mode alone; \`${WORKER_SANDBOX}\` leaves it to the worker, as without [sandbox]. See docs/sandbox.md.`,
    ),
    // Files have the long form.
    { write: () => undefined },
  ),
  ...LONG_FIELDS,
];

/** The sandbox of one server: a mode, or a table like [sandbox]. Without it, that of the agent applies. */
export const ServerSandbox = z.union([SandboxMode, buildShape(LONG_FIELDS)["sandbox"]!]);

/** Converts the value of a `sandbox` key to that of a definition, except for the names in `bounds`. */
export function parseSandbox(value: unknown): unknown {
  return isObject(value) ? { mode: DEFAULT_SANDBOX_MODE, ...value } : { mode: value };
}
