import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

const prices = (...args: string[]) => admin('prices', ...args);

function file(...lines: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'prices.csv');
  writeFileSync(path, ['country,gbp,eur,validFrom', ...lines, ''].join('\r\n'));
  return path;
}

test('the operator loads prices and sees them, and a file with wrong lines is refused whole, by line', async () => {
  const loaded = await prices(
    'load',
    file('GB,0.0345,0.0412,2020-01-01', 'GB,0.05,,2099-01-01', 'FR,,,2020-01-01'),
  );
  expect(loaded).toEqual({ code: 0, printed: { loaded: 3 } });

  const refused = await prices(
    'load',
    file('GB,1,1,2020-01-01', 'GB,free,1,2021-01-01', 'UK,1,1,2020-01-01'),
  );
  expect(refused.code).toBe(1);
  expect(refused.printed.split('\n')).toEqual([
    expect.stringMatching(/^line 3 gbp must be an amount/),
    expect.stringMatching(/^line 4 country must be/),
  ]);

  const [current, all] = await Promise.all([prices('list'), prices('list', '--all')]);
  const [france, britain] = [
    { country: 'FR', gbp: null, eur: null, validFrom: '2020-01-01' },
    { country: 'GB', gbp: '0.0345', eur: '0.0412', validFrom: '2020-01-01' },
  ];
  expect(current.printed).toEqual([france, britain]);
  expect(all.printed).toEqual([
    france,
    { country: 'GB', gbp: '0.0500', eur: null, validFrom: '2099-01-01' },
    britain,
  ]);
});

test('a file that is not there, or is none, is told in one line', async () => {
  const folder = dirname(file());
  const missing = join(folder, 'missing.csv');
  expect(await prices('load', missing)).toEqual({ code: 1, printed: `There is no file ${missing}` });
  expect(await prices('load', folder)).toEqual({ code: 1, printed: `${folder} cannot be read (EISDIR)` });
});
