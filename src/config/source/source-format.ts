import { extname } from "node:path";
import { parseJson } from "./parse-json.ts";
import type { ParseFunction } from "./parse-result.ts";
import { parseToml } from "./parse-toml.ts";
import { parseYaml } from "./parse-yaml.ts";

/** The format of an agent file. */
export type SourceFormat = "toml" | "json" | "yaml";

/** In the order in which they are tried if a file's name does not determine the format. */
export const PARSERS = {
  toml: parseToml,
  json: parseJson,
  yaml: parseYaml,
} as const satisfies Record<SourceFormat, ParseFunction>;

export const FORMATS = Object.keys(PARSERS) as readonly SourceFormat[];

const EXTENSIONS: Readonly<Record<string, SourceFormat>> = {
  ".toml": "toml",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
};

/** Returns the format of a file's extension. */
export function getFormat(file: string): SourceFormat | undefined {
  return EXTENSIONS[extname(file).toLowerCase()];
}
