import { expect, test } from 'vitest';
import { useDatabase } from '../../database/database.ts';
import { atEnd } from '../at-end.ts';
import { writeLate } from './write-late.ts';

// Given before the end of the database is, so it runs after that: as work does that nobody has stopped.
atEnd(writeLate);
useDatabase();

test('writes rows after its end', () => {
  expect(writeLate).toBeTypeOf('function');
});
