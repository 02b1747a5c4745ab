import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { problem } from '../../common/errors.ts';
import { portionsOf } from '../../common/portions.ts';
import { transaction } from '../../db/client.ts';
import {
  insertSmsPrices,
  listSmsPrices,
  listSmsPricesOf,
  type SmsPrice,
} from '../../db/sms/prices.system.ts';
import { moneyText } from '../../formats/money.ts';
import { parsePriceFile } from '../../formats/sms/price-file.ts';
import type { SmsCost } from '../../schemas/sms/parts.ts';

/** In ten-thousandths; null where there is no price in that currency. */
export type Money = { gbp: number | null; eur: number | null };

const atOnce = 1_000;

/**
 * Puts the prices of a CSV file into the table, all of them or none; they replace prices of the same country and day. A
 * text that was sent before keeps its cost.
 */
export async function load(text: string): Promise<{ loaded: number }> {
  const file = await parsePriceFile(text);
  if (!file.ok) {
    const lines = Object.keys(file.errors).length;
    throw problem('validation_failed', {
      detail: `${lines} lines of the file have errors, so nothing was loaded`,
      errors: file.errors,
    });
  }
  await transaction(async () => {
    for (const some of portionsOf(file.prices, atOnce)) await insertSmsPrices(some);
  });
  cache.clear();
  return { loaded: file.prices.length };
}

/** Lists all prices by country, newest first. */
export const listAll = listSmsPrices;

/** The price of each country now. */
export async function listCurrent(): Promise<SmsPrice[]> {
  const byCountry = Map.groupBy(await listSmsPrices(), ({ country }) => country);
  const at = now();
  return [...byCountry.values()].flatMap((prices) => newestOf(prices, at) ?? []);
}

type CachedPrices = { prices: SmsPrice[]; readAt: number };
const cacheMs = 10_000;
const cache = new Map<string, CachedPrices>();
forgetAtEnd(() => cache.clear());

/**
 * Returns the price of one part to a country, up to ten seconds old. `country` is null where the number does not tell
 * it.
 */
export async function priceOf(country: string | null, at: Date): Promise<Money> {
  const price = country === null ? undefined : newestOf(await recentOf(country), at);
  return { gbp: price?.gbp ?? null, eur: price?.eur ?? null };
}

async function recentOf(country: string): Promise<SmsPrice[]> {
  const known = cache.get(country);
  if (known && performance.now() - known.readAt < cacheMs) return known.prices;
  const readAt = performance.now();
  const prices = await listSmsPricesOf(country);
  cache.set(country, { prices, readAt });
  return prices;
}

/** Returns the newest price that is valid at `at`. `prices`: newest first. */
function newestOf(prices: SmsPrice[], at: Date): SmsPrice | undefined {
  return prices.find(({ validFrom }) => validFrom <= at);
}

/** Says that the recipient's country has no price in pounds, which a workspace with a balance needs. */
export function noPriceMessage(country: string | null): string {
  return `cannot be charged: the platform has no price for ${country ?? 'its country, which is unknown'}`;
}

export function costOf(parts: number, price: Money): Money {
  return {
    gbp: price.gbp === null ? null : parts * price.gbp,
    eur: price.eur === null ? null : parts * price.eur,
  };
}

export function costToWire({ gbp, eur }: Money): SmsCost {
  return { gbp: gbp === null ? null : moneyText(gbp), eur: eur === null ? null : moneyText(eur) };
}
