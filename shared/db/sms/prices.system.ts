import { query, type Row } from '../client.ts';

/** The price of a part to a country from a time on, in ten-thousandths; null: there is no price in that currency. */
export type SmsPrice = { country: string; validFrom: Date; gbp: number | null; eur: number | null };

/** In the place of those of the same country and time, where there are such. */
export async function insertSmsPrices(prices: SmsPrice[]): Promise<void> {
  await query(
    `INSERT INTO sms_prices (country, valid_from, gbp, eur) VALUES ?
     ON DUPLICATE KEY UPDATE gbp = VALUES(gbp), eur = VALUES(eur)`,
    [prices.map(({ country, validFrom, gbp, eur }) => [country, validFrom, gbp, eur])],
  );
}

/** By country, each newest first. */
export async function listSmsPrices(): Promise<SmsPrice[]> {
  const rows = await query('SELECT * FROM sms_prices ORDER BY country ASC, valid_from DESC');
  return rows.map(toPrice);
}

/** Newest first. */
export async function listSmsPricesOf(country: string): Promise<SmsPrice[]> {
  const rows = await query('SELECT * FROM sms_prices WHERE country = ? ORDER BY valid_from DESC', [country]);
  return rows.map(toPrice);
}

function toPrice(row: Row): SmsPrice {
  return { country: row.country, validFrom: row.valid_from, gbp: row.gbp, eur: row.eur };
}
