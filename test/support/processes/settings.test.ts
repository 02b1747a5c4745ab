import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { endAll } from '../runner/at-end.ts';
import { changeSettings } from './settings.ts';

test('changed settings hold here and for processes started later, until the file has ended', async () => {
  const before = { ...config };
  changeSettings({
    WEBHOOK_RETRY_SCHEDULE_SECONDS: [1, 2],
    OPS_PASSWORD: 'open-sesame-and-close',
    SMTP_URL: 'smtp://a.example',
  });
  changeSettings({ SMTP_URL: 'smtp://b.example', OPS_PASSWORD: undefined });
  expect(config).toMatchObject({ WEBHOOK_RETRY_SCHEDULE_SECONDS: [1, 2], SMTP_URL: 'smtp://b.example' });
  expect(config.OPS_PASSWORD).toBeUndefined();
  expect(process.env).toMatchObject({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,2', SMTP_URL: 'smtp://b.example' });
  expect(process.env['OPS_PASSWORD']).toBe('');
  await endAll();
  expect(config).toEqual(before);
  expect(process.env['WEBHOOK_RETRY_SCHEDULE_SECONDS']).toBeUndefined();
  expect(process.env['SMTP_URL']).toBe(before.SMTP_URL);
});
