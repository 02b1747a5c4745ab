import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingNames, settingSchemas } from '../../shared/config/config.ts';
import { withTables } from './configure.ts';

const guide = readFileSync(join(import.meta.dirname, '../../api/public/guides/configure.md'), 'utf8');

test('the guide Configure has every setting as it is; `node test/guides/write-configure.ts` writes it anew', () => {
  expect(withTables(guide)).toBe(guide);
  const [, tables = ''] = guide.split('\n## The platform\n');
  for (const name of settingNames) expect(tables.split(`\n| \`${name}\` | `)).toHaveLength(2);
});

test('every setting says what it is', () => {
  for (const [name, { description }] of Object.entries(settingSchemas))
    expect([name, description]).toEqual([name, expect.stringMatching(/\w{3}/)]);
});
