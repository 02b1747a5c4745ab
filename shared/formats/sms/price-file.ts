import type { FieldErrors } from '../../common/errors.ts';
import { isCountry } from '../country.ts';
import { CsvFault, type CsvRow, readCsv } from '../csv-rows.ts';
import { parseMoney } from '../money.ts';
import { hasPhoneNumbers } from './phone-number.ts';

/** The price of a message part to a country, valid from a day on, in ten-thousandths; null when the field is empty. */
type PriceLine = { country: string; validFrom: Date; gbp: number | null; eur: number | null };
/** `errors`: the faults of each line. All lines are checked. */
type PriceFile = { ok: true; prices: PriceLine[] } | { ok: false; errors: FieldErrors };

const priceColumns = ['country', 'gbp', 'eur', 'validFrom'] as const;
type PriceColumn = (typeof priceColumns)[number];
type PriceFields = Record<PriceColumn, string>;

/** Reads a price table: CSV with a header, whose columns may come in any order. */
export async function parsePriceFile(text: string): Promise<PriceFile> {
  const rows: CsvRow[] = [];
  try {
    for await (const row of readCsv([Buffer.from(text)], ',')) rows.push(row);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    return failure(error.line, `is not CSV: ${error.message.replace('is not CSV: ', '')}`);
  }
  const [header, ...lines] = rows.map(({ line, cells }) => ({
    line,
    fields: cells.map((cell) => cell.trim()),
  }));
  const order = header?.fields ?? [];
  if (order.toSorted().join() !== priceColumns.toSorted().join())
    return failure(header?.line ?? 1, `must name the columns, with commas: ${priceColumns.join(',')}`);
  if (lines.length === 0) return failure(header!.line + 1, 'must be a price');

  const errors: FieldErrors = {};
  const prices: PriceLine[] = [];
  const seen = new Map<string, number>();
  for (const { line, fields } of lines) {
    const faults: string[] = [];
    if (fields.length === priceColumns.length) {
      const named = Object.fromEntries(order.map((column, index) => [column, fields[index]])) as PriceFields;
      const price = priceOf(named, (fault) => faults.push(fault));
      const key = `${named.country} from ${named.validFrom}`;
      const earlier = seen.get(key);
      if (earlier !== undefined) faults.push(`${key} is on line ${earlier} too`);
      seen.set(key, line);
      prices.push(price);
    } else faults.push(`has ${fields.length} fields, not ${priceColumns.length}`);
    if (faults.length > 0) errors[`line ${line}`] = faults;
  }
  return Object.keys(errors).length === 0 ? { ok: true, prices } : { ok: false, errors };
}

function failure(line: number, message: string): { ok: false; errors: FieldErrors } {
  return { ok: false, errors: { [`line ${line}`]: [message] } };
}

function priceOf({ country, gbp, eur, validFrom }: PriceFields, refuse: (fault: string) => void): PriceLine {
  // Ascension and Tristan da Cunha have numbers of their own, and no code of the standard.
  if (!isCountry(country) && !hasPhoneNumbers(country))
    refuse('country must be the two letters of a country (ISO 3166-1), such as GB');
  return {
    country,
    gbp: amountOf('gbp', gbp, refuse),
    eur: amountOf('eur', eur, refuse),
    validFrom: dayOf(validFrom, refuse),
  };
}

// Far above the cost of any part; the cost of a hundred such parts is still a safe integer.
const mostCostly = 1000 * 10_000;

function amountOf(name: string, text: string, refuse: (fault: string) => void): number | null {
  if (text === '') return null;
  const amount = parseMoney(text);
  if (amount !== null && amount >= 0 && amount <= mostCostly) return amount;
  refuse(`${name} must be an amount such as 0.0345, up to 1000, or empty where there is no price`);
  return null;
}

function dayOf(text: string, refuse: (fault: string) => void): Date {
  const day = new Date(`${text}T00:00:00Z`);
  // Date turns the 31st of a short month into the 1st of the next.
  const isDay = /^20\d\d-\d\d-\d\d$/.test(text) && day.getTime() > 0 && day.toISOString().startsWith(text);
  if (!isDay) refuse('validFrom must be a day such as 2026-12-01');
  return day;
}
