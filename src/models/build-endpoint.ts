/**
 * Builds the URL of a call. Accepts a base with or without a trailing slash, with or without its version, and with
 * the whole path, so that nothing is appended twice. A query stays.
 *
 * @param version - Inserted before the path if the base has no path at all, or must end with it and does not.
 */
export function buildEndpoint(base: string, path: string, version: string, always: boolean): string {
  const url = new URL(base);
  let root = url.pathname.replace(/\/+$/, "");
  const whole = root.endsWith(path);
  if (whole) root = root.slice(0, -path.length);
  const versioned = root.endsWith(version) || ((root !== "" || whole) && !always);
  url.pathname = `${root}${versioned ? "" : version}${path}`;
  return url.href;
}
