import type { ExecutableTool } from "../tool.ts";
import { type BashToolOptions, createBashTool } from "./bash-tool.ts";
import { createEditFileTool } from "./edit-file-tool.ts";
import { createListFilesTool, type ListFilesToolOptions } from "./list-files-tool.ts";
import { createReadFileTool, type ReadFileToolOptions } from "./read-file-tool.ts";
import { createSearchTool, type SearchToolOptions } from "./search-tool.ts";
import { createWriteFileTool } from "./write-file-tool.ts";

/** The options of the built-in tools. */
export type DefaultToolOptions = {
  /** Of the tool that runs shell commands. */
  readonly bash?: BashToolOptions;
  /** Of the tool that reads a file. */
  readonly readFile?: ReadFileToolOptions;
  /** Of the tool that lists a folder. */
  readonly listFiles?: ListFilesToolOptions;
  /** Of the tool that searches files. */
  readonly search?: SearchToolOptions;
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
