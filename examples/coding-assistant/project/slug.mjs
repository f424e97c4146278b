/** Converts a title to a part of an address: lower-case letters, digits, and single dashes between them. */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "-")
    .replace(/^-|-$/g, "");
}
