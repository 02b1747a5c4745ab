import fs from 'node:fs';
import path from 'node:path';
import { withTables } from './configure.ts';

/** Writes the tables of the guide Configure again. */
const file = path.join(import.meta.dirname, '../../api/public/guides/configure.md');
fs.writeFileSync(file, withTables(fs.readFileSync(file, 'utf8')));
