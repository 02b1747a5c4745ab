import { expect, test } from 'vitest';
import { config } from '../../../../shared/config/config.ts';

test('changes a setting and leaves it', () => {
  config.SWEEP_SECONDS += 1;
  expect(config.SWEEP_SECONDS).toBeGreaterThan(1);
});
