import { open, realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ToolSourceError } from "../tool-source.ts";
import { createTooLongError, type FetchedDocument, fetchDocument } from "./fetch-document.ts";

export function isUrl(spec: string): boolean {
  return /^https?:\/\//i.test(spec);
}

/** Reads the document that the author specified: a URL or a file. Its own address is a URL in both cases. */
export async function readSpec(spec: string, workspace: string, maxBytes: number): Promise<FetchedDocument> {
  if (!isUrl(spec)) return await readFile(resolve(workspace, spec), maxBytes);
  if (!URL.canParse(spec))
    throw new ToolSourceError(`The OpenAPI document "${spec}": this is not a valid URL`);
  const { username, password, origin } = new URL(spec);
  if (username !== "" || password !== "") {
    throw new ToolSourceError(
      "The address of an OpenAPI document must not contain a user or a password, because it is stored and displayed",
    );
  }
  return await fetchDocument(spec, maxBytes, origin);
}

/**
 * Reads a document that another one refers to: for a file, one in the same folder or below; for a URL, another URL.
 *
 * @param root - The address of the document that the author specified.
 */
export async function readReferenced(
  address: string,
  root: string,
  maxBytes: number,
): Promise<FetchedDocument> {
  if (isUrl(address)) {
    const trusted = isUrl(root) ? new URL(root).origin : "";
    return await fetchDocument(address, maxBytes, trusted);
  }
  if (!address.startsWith("file:") || !root.startsWith("file:")) {
    throw new ToolSourceError(
      `A reference leads to ${address}: a document from a URL can only refer to other URLs`,
    );
  }
  const folder = await realpath(dirname(fileURLToPath(root)));
  const file = await realpath(fileURLToPath(address)).catch(() => fileURLToPath(address));
  if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new ToolSourceError(`A reference leads to ${file}, which is not below ${folder}: it was not read`);
  }
  return await readFile(file, maxBytes);
}

async function readFile(file: string, maxBytes: number): Promise<FetchedDocument> {
  try {
    const handle = await open(file);
    try {
      const facts = await handle.stat();
      if (!facts.isFile()) throw new ToolSourceError(`The OpenAPI document ${file} is not a file`);
      if (facts.size > maxBytes) throw createTooLongError(file, maxBytes);
      return { text: await handle.readFile("utf8"), address: pathToFileURL(file).href };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ToolSourceError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "the file does not exist" : message;
    throw new ToolSourceError(`The OpenAPI document ${file} cannot be read: ${reason}`);
  }
}
