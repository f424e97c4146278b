/**
 * Executions that later claims of a step have displaced, none of which has given the step back: JSON, oldest first; null
 * where there is none. The row itself describes only the newest claim.
 */
export const SCHEMA_7 = `
ALTER TABLE steps ADD COLUMN displaced TEXT;
`;
