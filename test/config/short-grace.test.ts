import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingSchemas } from '../../shared/config/config.ts';
import { shortGrace } from '../../shared/config/disagreements.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const byDefault = (name: string) => Number(settingSchemas[name]!.parse(undefined));
const defaults = {
  SHUTDOWN_SECONDS: byDefault('SHUTDOWN_SECONDS'),
  SMTP_TIMEOUT_SECONDS: byDefault('SMTP_TIMEOUT_SECONDS'),
  SMS_TIMEOUT_SECONDS: byDefault('SMS_TIMEOUT_SECONDS'),
  WEBHOOK_TIMEOUT_SECONDS: byDefault('WEBHOOK_TIMEOUT_SECONDS'),
};

test('a stop lasts longer than any hand-over, by the defaults and by what is said of a host that gives 30 seconds', () => {
  expect(shortGrace(defaults)).toBe(null);
  const { env } = JSON.parse(textOf('app.json'));
  const given = (name: string) => Number(env[name].value);
  const onHeroku = {
    ...defaults,
    SHUTDOWN_SECONDS: given('SHUTDOWN_SECONDS'),
    SMTP_TIMEOUT_SECONDS: given('SMTP_TIMEOUT_SECONDS'),
  };
  expect(onHeroku.SHUTDOWN_SECONDS).toBeLessThan(30);
  expect(shortGrace(onHeroku)).toBe(null);
  const { SHUTDOWN_SECONDS: grace, SMTP_TIMEOUT_SECONDS: longest } = onHeroku;
  expect(textOf('api/public/guides/deploy.md')).toContain(
    `SHUTDOWN_SECONDS=${grace} SMTP_TIMEOUT_SECONDS=${longest}\n`,
  );
});

test('compose, systemd and scripts/start wait longer for a process than it takes at most to stop', () => {
  for (const [file, wait] of [
    ['scripts/container/compose.yaml', /^ {2}stop_grace_period: (\d+)s$/m],
    ['api/public/guides/deploy.md', /^TimeoutStopSec=(\d+)$/m],
    ['scripts/setup/start/processes.ts', /^const applicationGraceMs = (\d+)_000;$/m],
  ] as const)
    expect(Number(wait.exec(textOf(file))?.[1]), file).toBeGreaterThan(defaults.SHUTDOWN_SECONDS);
});

test('a grace that is shorter than a hand-over is told with what would be enough', () => {
  expect(shortGrace({ ...defaults, SHUTDOWN_SECONDS: 30 })).toBe(
    'SHUTDOWN_SECONDS is 30, so a stop may interrupt a hand-over, and the message may then be sent twice. Set SHUTDOWN_SECONDS to at least 65, or make SMTP_TIMEOUT_SECONDS shorter',
  );
  expect(shortGrace({ ...defaults, SMTP_TIMEOUT_SECONDS: 5, SMS_TIMEOUT_SECONDS: 66 })).toContain(
    'Set SHUTDOWN_SECONDS to at least 71, or make SMS_TIMEOUT_SECONDS shorter',
  );
});
