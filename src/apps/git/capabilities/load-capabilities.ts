import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Problem, readCheckedFile } from "../../../client/index.ts";
import { type Capability, CapabilityFile, type CapabilityOrigin } from "./capability.ts";

const BUILT_IN = fileURLToPath(new URL("./built-in/", import.meta.url));

/** A folder with more files is not one of capabilities. */
const MAX_FILES = 200;

/** Where capabilities are looked for, and what they may name. */
export type CapabilityFolders = {
  /** The root of the repository. Absent if its capabilities must not be read, because it is not trusted. */
  readonly repository?: string | undefined;
  /** The user's folder of Holdfast: `HOLDFAST_HOME`, or else `.holdfast` in the home folder. */
  readonly home?: string | undefined;
  readonly artifactTypes: readonly string[];
  readonly toolNames: readonly string[];
};

/** All capabilities by name, or everything that is wrong with their files. */
export type Capabilities = {
  /** Those without errors, overridden ones left out. */
  readonly capabilities: ReadonlyMap<string, Capability>;
  readonly problems: readonly Problem[];
};

/** Reads the built-in capabilities, then those of the user, then those of the repository; later ones override. */
export function loadCapabilities(folders: CapabilityFolders): Capabilities {
  const home = folders.home ?? process.env["HOLDFAST_HOME"] ?? join(homedir(), ".holdfast");
  const places: readonly (readonly [CapabilityOrigin, string])[] = [
    ["built-in", BUILT_IN],
    ["home", join(home, "capabilities")],
    ...(folders.repository === undefined
      ? []
      : [["repository", join(folders.repository, ".holdfast", "capabilities")] as const]),
  ];
  const capabilities = new Map<string, Capability>();
  const problems: Problem[] = [];
  for (const [origin, folder] of places) {
    const listed = listFiles(folder);
    problems.push(...listed.problems);
    const here = new Map<string, string>();
    for (const file of listed.files) {
      const read = readCapability(file, origin, folders);
      problems.push(...read.problems);
      if (read.capability === undefined) continue;
      const { name } = read.capability;
      const other = here.get(name);
      if (other === undefined) {
        here.set(name, file);
        capabilities.set(name, read.capability);
      } else
        problems.push(createError(file, `the name "${name}" is already that of ${basename(other)}`, "name"));
    }
  }
  return { capabilities, problems };
}

function listFiles(folder: string): {
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
} {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".toml"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { files: [], problems: [] };
    return { files: [], problems: [createError(folder, `the folder cannot be read: ${message}`)] };
  }
  if (names.length > MAX_FILES)
    return {
      files: [],
      problems: [createError(folder, `it has ${names.length} files; at most ${MAX_FILES} are read`)],
    };
  return { files: [...names].sort().map((name) => join(folder, name)), problems: [] };
}

function readCapability(
  file: string,
  origin: CapabilityOrigin,
  { artifactTypes, toolNames }: CapabilityFolders,
): { readonly capability?: Capability; readonly problems: readonly Problem[] } {
  const read = readCheckedFile(file, { schema: withKnownNames(artifactTypes, toolNames) });
  if (!read.ok) return { problems: read.problems };
  const { name, description, output_type, output_schema, task_prompt, tools, critic, internal } = read.value;
  const common = { name, description, origin, file, taskPrompt: task_prompt, critic, isInternal: internal };
  const optional = tools === undefined ? {} : { tools };
  if (output_schema === undefined) {
    const output = { type: "artifact" as const, name: output_type ?? "PlainText" };
    return { capability: { ...common, ...optional, output }, problems: [] };
  }
  const schema = readCheckedFile(join(dirname(file), output_schema), { schema: JSON_SCHEMA });
  if (!schema.ok) return { problems: schema.problems };
  return {
    capability: { ...common, ...optional, output: { type: "schema", schema: schema.value } },
    problems: [],
  };
}

const JSON_SCHEMA = z
  .record(z.string(), z.unknown())
  .refine((schema) => schema["type"] === "object", 'its "type" must be "object", as vendors require');

/** Rejects names of artifact types and tools that do not exist, at their place in the file. */
function withKnownNames(artifactTypes: readonly string[], toolNames: readonly string[]) {
  return CapabilityFile.superRefine(({ output_type, tools = [] }, context) => {
    if (output_type !== undefined && !artifactTypes.includes(output_type)) {
      const message = `must be one of ${artifactTypes.join(", ")}; for a type of your own, use output_schema`;
      context.addIssue({ code: "custom", path: ["output_type"], message });
    }
    for (const [index, tool] of tools.entries()) {
      if (toolNames.includes(tool)) continue;
      const message = `must be one of ${toolNames.join(", ")}`;
      context.addIssue({ code: "custom", path: ["tools", index], message });
    }
  });
}

function createError(file: string, message: string, field?: string): Problem {
  return {
    kind: field === undefined ? "io" : "invalid-field",
    severity: "error",
    file,
    message,
    ...(field === undefined ? {} : { field }),
  };
}
