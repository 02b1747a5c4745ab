import { afterAll } from 'vitest';
import { openFile } from '../processes/world.ts';

// Runs before the imports of each test file, also where files share a process.
afterAll(await openFile());
