import type { ExecutableTool } from "../tool.ts";
import { type BashOptions, createBashTool } from "./bash-tool.ts";
import { createEditFileTool } from "./edit-file-tool.ts";
import { createListFilesTool, type ListFilesOptions } from "./list-files-tool.ts";
import { createReadFileTool, type ReadFileOptions } from "./read-file-tool.ts";
import { createSearchTool, type SearchOptions } from "./search-tool.ts";
import { createWriteFileTool } from "./write-file-tool.ts";

/** The options of the built-in tools. */
export type DefaultToolOptions = {
  /** Of the tool that runs shell commands. */
  readonly bash?: BashOptions;
  /** Of the tool that reads a file. */
  readonly readFile?: ReadFileOptions;
  /** Of the tool that lists a folder. */
  readonly listFiles?: ListFilesOptions;
  /** Of the tool that searches files. */
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
