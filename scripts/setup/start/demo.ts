import { parseArgs } from 'node:util';
import { closeEverything, startUp } from '../../../shared/lifecycle.ts';
import * as kept from '../kept.ts';
import { type Demo, makeDemo } from './demo-workspace.ts';

/** Makes the demo workspace and prints {workspaceId, apiKey, sender} as one line of JSON. */
const { values } = parseArgs({ options: { file: { type: 'string' } } });
await startUp();
const former = values.file ? (kept.read(values.file) as Demo | undefined) : undefined;
process.stdout.write(`${JSON.stringify(await makeDemo(former))}\n`);
await closeEverything();
