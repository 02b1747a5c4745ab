import { expect, test } from 'vitest';
import { atEnd } from '../at-end.ts';
import { useDatabase } from '../database.ts';
import { writeLate } from './write-late.ts';

// Given before the end of the database is, so it runs after that: as work does that nobody has stopped.
atEnd(writeLate);
useDatabase();

test('writes rows after its end', () => {
  expect(writeLate).toBeTypeOf('function');
});
