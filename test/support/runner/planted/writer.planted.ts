import { expect, test } from 'vitest';
import { useDatabase } from '../../database/database.ts';
import { atEnd } from '../at-end.ts';
import { writeLate } from './write-late.ts';

// This is registered before the end of the database, so it runs after that, like work that nobody has stopped.
atEnd(writeLate);
useDatabase();

test('writes rows after its end', () => {
  expect(writeLate).toBeTypeOf('function');
});
