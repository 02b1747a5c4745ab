import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Problem } from '../../../shared/common/errors.ts';
import { query } from '../../../shared/db/client.ts';
import { insertSmsPrices } from '../../../shared/db/sms/prices.system.ts';
import * as smsPrices from '../../../shared/domain/sms/prices.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

beforeEach(async () => {
  await query('DELETE FROM sms_prices');
});
afterEach(() => void vi.useRealTimers());

const header = 'country,gbp,eur,validFrom';
const load = (...lines: string[]) => smsPrices.load([header, ...lines].join('\n'));
const at = (text: string) => new Date(text);

test('the price of a time is the newest that is valid by then', async () => {
  await load('GB,0.0345,0.0412,2026-11-01', 'GB,,,2027-02-01', 'GB,0.0400,,2026-12-01', 'FR,1,1,2026-11-01');
  const prices = ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z', '2026-11-30T23:59:59.999Z'];
  const later = ['2026-12-01T00:00:00.000Z', '2027-01-31T12:00:00Z', '2027-02-01T00:00:00Z'];
  const found = await Promise.all([...prices, ...later].map((time) => smsPrices.priceOf('GB', at(time))));
  expect(found).toEqual([
    { gbp: null, eur: null },
    { gbp: 345, eur: 412 },
    { gbp: 345, eur: 412 },
    { gbp: 400, eur: null },
    { gbp: 400, eur: null },
    { gbp: null, eur: null },
  ]);
});

test('a country without prices, and a number that tells no country, cost nothing that is known', async () => {
  await load('GB,0.0345,0.0412,2026-11-01');
  for (const country of ['FR', 'gb', null])
    expect(await smsPrices.priceOf(country, at('2026-12-01T00:00:00Z'))).toEqual({ gbp: null, eur: null });
});

test('a cost is the price of all parts, exactly', () => {
  expect(smsPrices.costOf(3, { gbp: 345, eur: null })).toEqual({ gbp: 1035, eur: null });
  expect(smsPrices.costToWire({ gbp: 1035, eur: null })).toEqual({ gbp: '0.1035', eur: null });
  expect(smsPrices.costToWire({ gbp: null, eur: 0 })).toEqual({ gbp: null, eur: '0.0000' });
});

test('a file that is loaded again changes nothing, and a changed one takes the place of what it names', async () => {
  await load('GB,0.0345,0.0412,2026-11-01', 'FR,1,1,2026-11-01');
  const before = await smsPrices.listAll();
  expect(await load('GB,0.0345,0.0412,2026-11-01', 'FR,1,1,2026-11-01')).toEqual({ loaded: 2 });
  expect(await smsPrices.listAll()).toEqual(before);
  await load('GB,0.0500,,2026-11-01');
  expect(await smsPrices.priceOf('GB', at('2026-11-01T00:00:00Z'))).toEqual({ gbp: 500, eur: null });
  expect(await smsPrices.priceOf('FR', at('2026-11-01T00:00:00Z'))).toEqual({ gbp: 10_000, eur: 10_000 });
});

test('of a file with a wrong line nothing is loaded', async () => {
  const failure = (await load('GB,0.0345,0.0412,2026-11-01', 'FR,x,1,2026-11-01').catch(
    (error) => error,
  )) as Problem;
  expect(failure.options.errors).toEqual({ 'line 3': [expect.stringMatching(/^gbp must be an amount/)] });
  expect(await smsPrices.listAll()).toEqual([]);
});

test('a file of many thousand lines is loaded whole', async () => {
  const days = Array.from({ length: 2_500 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + index)));
  const lines = days.map((day, index) => `GB,${index % 100},,${day.toISOString().slice(0, 10)}`);
  expect(await load(...lines)).toEqual({ loaded: 2_500 });
  expect(await smsPrices.listAll()).toHaveLength(2_500);
  expect(await smsPrices.priceOf('GB', days[2_499]!)).toEqual({ gbp: 99 * 10_000, eur: null });
});

test('the prices of now are one for each country that has one by now', async () => {
  await load(
    'GB,1,1,2020-01-01',
    'GB,2,2,2021-01-01',
    'GB,3,3,2099-01-01',
    'FR,4,,2099-01-01',
    'DE,5,,2020-01-01',
  );
  expect(await smsPrices.listCurrent()).toEqual([
    { country: 'DE', gbp: 50_000, eur: null, validFrom: at('2020-01-01T00:00:00Z') },
    { country: 'GB', gbp: 20_000, eur: 20_000, validFrom: at('2021-01-01T00:00:00Z') },
  ]);
});

test('what another process loads holds here within ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 1_000_000 });
  await load('GB,1,1,2020-01-01');
  const time = at('2026-01-01T00:00:00Z');
  expect(await smsPrices.priceOf('GB', time)).toEqual({ gbp: 10_000, eur: 10_000 });
  await insertSmsPrices([{ country: 'GB', gbp: 20_000, eur: null, validFrom: at('2020-01-01T00:00:00Z') }]);
  vi.advanceTimersByTime(9_999);
  expect(await smsPrices.priceOf('GB', time)).toEqual({ gbp: 10_000, eur: 10_000 });
  vi.advanceTimersByTime(1);
  expect(await smsPrices.priceOf('GB', time)).toEqual({ gbp: 20_000, eur: null });
});
