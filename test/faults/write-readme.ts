import fs from 'node:fs';
import path from 'node:path';
import { complaintsOf, pageOf } from './rows/page.ts';
import { readTags } from './rows/tags.ts';

/** Writes README.md anew, from the rows in rows/ and from the tags in the tests. */
const tags = readTags();
const complaints = complaintsOf(tags);
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (complaints.length > 0) process.exitCode = 1;
else fs.writeFileSync(path.join(import.meta.dirname, 'README.md'), pageOf(tags.shown));
