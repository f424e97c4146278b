import type { ExecutableTool } from "../tool.ts";
import { type BashOptions, createBashTool } from "./bash-tool.ts";
import { createEditFileTool } from "./edit-file-tool.ts";
import { createListFilesTool, type ListFilesOptions } from "./list-files-tool.ts";
import { createReadFileTool, type ReadFileOptions } from "./read-file-tool.ts";
import { createSearchTool, type SearchOptions } from "./search-tool.ts";
import { createWriteFileTool } from "./write-file-tool.ts";

export type DefaultToolOptions = {
  readonly bash?: BashOptions;
  readonly readFile?: ReadFileOptions;
  readonly listFiles?: ListFilesOptions;
  readonly search?: SearchOptions;
};

export function createDefaultTools(options: DefaultToolOptions = {}): ExecutableTool[] {
  return [
    createBashTool(options.bash),
    createReadFileTool(options.readFile),
    createWriteFileTool(),
    createEditFileTool(),
    createListFilesTool(options.listFiles),
    createSearchTool(options.search),
  ];
}
