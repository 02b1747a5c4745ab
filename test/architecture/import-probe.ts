/**
 * Imports the modules given as arguments, one after the other, and writes a JSON line for everything that a module
 * starts while it loads. The probe ends by itself if the modules leave nothing running.
 */
import { createHook } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const meanings: Record<string, string> = {
  TCPWRAP: 'opens a connection',
  TCPSERVERWRAP: 'listens on a port',
  UDPWRAP: 'opens a socket',
  PIPECONNECTWRAP: 'connects to a socket file',
  PIPESERVERWRAP: 'listens on a socket file',
  GETADDRINFOREQWRAP: 'asks for an address',
  QUERYWRAP: 'asks a name server',
  WORKER: 'starts a thread',
  PROCESSWRAP: 'starts a process',
  FSEVENTWRAP: 'watches a file',
  STATWATCHER: 'watches a file',
  SIGNALWRAP: 'listens for a signal',
  Timeout: 'starts a timer',
};

let loading = '';
function report(does: string): void {
  writeSync(1, `${JSON.stringify({ module: loading, does })}\n`);
}

/** Returns the place in the code that started something: the nearest frame that is not Node's own. */
function culprit(): string {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const frame = frames.find((line) => !/\bnode:|import-probe|<anonymous>\)$/.test(line)) ?? '';
  const place = /(file:[^)\s]+|\/[^)\s]+):(\d+):\d+\)?$/.exec(frame);
  if (!place?.[1]) return '';
  return `${place[1].startsWith('file:') ? fileURLToPath(place[1]) : place[1]}:${place[2]}`;
}

createHook({
  init(_id, type) {
    if (!Object.hasOwn(meanings, type)) return;
    const at = culprit();
    // Libraries set short timers of their own while they load; ours set none.
    if (type === 'Timeout' && (at === '' || at.includes('/node_modules/'))) return;
    report(`${meanings[type]}${at && ` at ${at}`}`);
  },
}).enable();

for (const path of process.argv.slice(2)) {
  loading = path;
  try {
    await import(pathToFileURL(path).href);
    // Work that the module began without waiting for it shows in the next turns of the event loop.
    for (let turns = 0; turns < 3; turns += 1) await turn();
  } catch (error) {
    report(`cannot be imported: ${error instanceof Error ? error.message : String(error)}`);
  }
}
loading = 'all together';
const kept = process
  .getActiveResourcesInfo()
  .filter((kind) => !/^(TTYWrap|PipeWrap|Immediate|FSReqPromise)$/.test(kind));
if (kept.length > 0) report(`keep the process alive: ${kept.join(', ')}`);
