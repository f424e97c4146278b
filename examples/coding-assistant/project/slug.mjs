/** A title as a part of an address: small letters, digits, and single dashes between them. */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "-")
    .replace(/^-|-$/g, "");
}
