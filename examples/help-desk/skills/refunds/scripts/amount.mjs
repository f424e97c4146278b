// All of the price within 30 days of delivery, half of it within a year, nothing later.
const [cents, delivered, asked] = process.argv.slice(2);
const days = (Date.parse(asked) - Date.parse(delivered)) / 86_400_000;
if (!(Number(cents) > 0) || !(days >= 0)) {
  console.error("Usage: amount.mjs CENTS DELIVERED ASKED, with days as YYYY-MM-DD");
  process.exit(2);
}
const part = days <= 30 ? 1 : days <= 365 ? 0.5 : 0;
console.log(`${Math.round(cents * part)} cents are due, ${days} days after delivery`);
