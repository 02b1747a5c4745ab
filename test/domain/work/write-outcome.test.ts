import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { isOutage } from '../../../shared/common/errors.ts';
import { logger } from '../../../shared/common/logger.ts';
import { query } from '../../../shared/db/client.ts';
import { writeOutcome } from '../../../shared/domain/work/write-outcome.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

/** Makes the database answer with this error. */
const failWith = (number: number) =>
  query(`SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${number}, MESSAGE_TEXT = 'As a test wants it'`);

// Shows F35
test.each([3, 1021, 1026, 1030, 1037, 1038, 1041, 1114, 1135])(
  'that a server has no room or no memory (error %i) is an outage, and no fault of the work',
  async (number) => {
    expect(isOutage(await failWith(number).catch((error: unknown) => error))).toBe(true);
  },
);

const unexpected = 1105;

/** Returns the lines that the logger writes from now on. */
function logged(): string[] {
  const lines: string[] = [];
  const stream = (logger as unknown as Record<symbol, { write: (line: string) => void }>)[
    pino.symbols.streamSym
  ]!;
  const written = vi.spyOn(stream, 'write').mockImplementation((line) => void lines.push(line));
  const { level } = logger;
  logger.level = 'error';
  onTestFinished(() => {
    logger.level = level;
    written.mockRestore();
  });
  return lines;
}

// Shows F35
test.each([
  [1026, 0],
  [unexpected, 1],
])(
  'an outcome that the database refuses with error %i is written again while the lease lasts, and logged %i times',
  async (number, times) => {
    const lines = logged();
    let writes = 0;
    const write = async () => {
      writes += 1;
      if (writes < 3) await failWith(number);
      return 'written';
    };
    expect(await writeOutcome(new Date(now().getTime() + 120_000), write)).toBe('written');
    expect(writes).toBe(3);
    expect(lines.filter((line) => line.includes('could not be stored'))).toHaveLength(times);
  },
);

// Shows F21
test('in an outage an outcome is written again though the lease has ended, for an hour at most', async () => {
  const lines = logged();
  let writes = 0;
  const write = async () => {
    writes += 1;
    if (writes < 3) await failWith(1026);
    return 'written';
  };
  expect(await writeOutcome(now(), write)).toBe('written');
  expect(lines.filter((line) => line.includes('could not be stored'))).toHaveLength(1);
  const hourAgo = new Date(now().getTime() - 3_600_000);
  await expect(writeOutcome(hourAgo, () => failWith(1026))).rejects.toSatisfy(isOutage);
});

test('once the lease has ended the outcome is left to its next holder', async () => {
  await expect(writeOutcome(now(), () => failWith(unexpected))).rejects.toThrow('As a test wants it');
});
