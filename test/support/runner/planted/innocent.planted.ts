import { test } from 'vitest';
import { useDatabase } from '../../database/database.ts';
import { changeMuch } from './change-much.ts';

useDatabase();

test('changes much, as a file may that leaves it to the support to put it back', changeMuch);

test('a test that needs more', ({ skip }) => skip('its program is not here'));
