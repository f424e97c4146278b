import { extname } from "node:path";
import { parseJson } from "./parse-json.ts";
import { parseToml } from "./parse-toml.ts";
import { parseYaml } from "./parse-yaml.ts";
import type { Parse } from "./syntax.ts";

/** In the order in which they are tried where a file's name does not say. */
export const FORMATS = ["toml", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

export const PARSERS = {
  toml: parseToml,
  json: parseJson,
  yaml: parseYaml,
} as const satisfies Record<Format, Parse>;

const EXTENSIONS: Readonly<Record<string, Format>> = {
  ".toml": "toml",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
};

/** By the file's extension. */
export function formatOf(file: string): Format | undefined {
  return EXTENSIONS[extname(file).toLowerCase()];
}
