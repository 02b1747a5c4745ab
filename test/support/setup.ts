import { afterAll } from 'vitest';
import { closeFile, openFile } from './world.ts';

// Runs before the imports of each test file, also where files share a process.
await openFile();
afterAll(closeFile);
