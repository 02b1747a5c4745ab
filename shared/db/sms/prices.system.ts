import { int, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { query } from '../client.ts';

/** The price of a part to a country from a time on, in ten-thousandths; null: there is no price in that currency. */
const prices = table('sms_prices', {
  country: text(),
  validFrom: time(),
  gbp: int().nullable(),
  eur: int().nullable(),
});
export type SmsPrice = RecordOf<typeof prices>;

/** Stores prices; replaces existing prices of the same country and time. */
export async function insertSmsPrices(records: SmsPrice[]): Promise<void> {
  await query(
    `INSERT INTO ${prices.into} VALUES ?
     ON DUPLICATE KEY UPDATE gbp = VALUES(gbp), eur = VALUES(eur)`,
    [records.map(prices.toValues)],
  );
}

/** Lists prices by country, the newest first within each. */
export async function listSmsPrices(): Promise<SmsPrice[]> {
  return prices.toRecords(await query('SELECT * FROM sms_prices ORDER BY country ASC, valid_from DESC'));
}

/** Newest first. */
export async function listSmsPricesOf(country: string): Promise<SmsPrice[]> {
  return prices.toRecords(
    await query('SELECT * FROM sms_prices WHERE country = ? ORDER BY valid_from DESC', [country]),
  );
}
