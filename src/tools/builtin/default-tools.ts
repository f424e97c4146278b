import type { ExecutableTool } from "../tool.ts";
import { type BashOptions, bashTool } from "./bash.ts";
import { editFileTool } from "./edit-file.ts";
import { type ListFilesOptions, listFilesTool } from "./list-files.ts";
import { type ReadFileOptions, readFileTool } from "./read-file.ts";
import { type SearchOptions, searchTool } from "./search.ts";
import { writeFileTool } from "./write-file.ts";

export type DefaultToolOptions = {
  readonly bash?: BashOptions;
  readonly readFile?: ReadFileOptions;
  readonly listFiles?: ListFilesOptions;
  readonly search?: SearchOptions;
};

export function defaultTools(options: DefaultToolOptions = {}): ExecutableTool[] {
  return [
    bashTool(options.bash),
    readFileTool(options.readFile),
    writeFileTool(),
    editFileTool(),
    listFilesTool(options.listFiles),
    searchTool(options.search),
  ];
}
