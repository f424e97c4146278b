import { open, realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ToolSourceError } from "../tool-source.ts";
import { createTooLongError, type FetchedDocument, fetchDocument } from "./fetch-document.ts";

export function isUrl(spec: string): boolean {
  return /^https?:\/\//i.test(spec);
}

/** A document by what the author wrote: an address, or a file. Its own address is an URL in both cases. */
export async function readSpec(spec: string, workspace: string, maxBytes: number): Promise<FetchedDocument> {
  if (!isUrl(spec)) return await readFile(resolve(workspace, spec), maxBytes);
  if (!URL.canParse(spec)) throw new ToolSourceError(`The OpenAPI document "${spec}": this is no address`);
  const { username, password, origin } = new URL(spec);
  if (username !== "" || password !== "") {
    throw new ToolSourceError(
      "The address of an OpenAPI document must hold no user and no password: it is stored and shown",
    );
  }
  return await fetchDocument(spec, maxBytes, origin);
}

/**
 * A document that another one refers to: of a file, one of the same folder or below; of an address, another address.
 *
 * @param root - The address of the document that the author named.
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
    throw new ToolSourceError(`A reference leads to ${address}: only addresses can be read from there`);
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
    const reason = code === "ENOENT" ? "there is no such file" : message;
    throw new ToolSourceError(`The OpenAPI document ${file} cannot be read: ${reason}`);
  }
}
