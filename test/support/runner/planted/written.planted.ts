import { test } from 'vitest';
import { useDatabase } from '../../database/database.ts';
import { changeMuch } from './change-much.ts';

useDatabase();

test('finds rows that are not its own', changeMuch);
