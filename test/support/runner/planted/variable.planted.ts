import { expect, test } from 'vitest';

test('changes the environment and leaves it', () => {
  process.env['PLANTED'] = 'yes';
  expect(process.env['PLANTED']).toBe('yes');
});
