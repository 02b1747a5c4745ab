import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { checkout } from '../../../../scripts/setup/environment.ts';
import { isDebianLike, unpack } from '../../../../scripts/setup/servers/unpack.ts';
import { freePort } from '../../processes/free-port.ts';
import { atEnd } from '../../runner/at-end.ts';
import { waitFor } from '../../time/wait-for.ts';

/** An SMSC whose codec is Debian's Net::SMPP, so that our codec does not check itself at both ends of a connection. */

const folder = path.join(checkout, '.local/programs/net-smpp');
const library = path.join(folder, 'usr/share/perl5');
const packageName = 'libnet-smpp-perl';

/** Returns the extra folder in which Perl finds the library, or the reason why the library cannot run here. */
export async function lookForNetSmpp(): Promise<{ folder: string } | { reason: string }> {
  if (await runs()) return { folder: library };
  const isUnpackable = isDebianLike() && !existsSync(library);
  const fault = isUnpackable ? (await unpack([packageName], folder)).trim().split('\n').at(-1) : '';
  if (await runs()) return { folder: library };
  const why = fault || 'Perl does not find it';
  return { reason: `Net::SMPP is needed: ${why}. Type: sudo apt-get install -y ${packageName}` };
}

async function runs(): Promise<boolean> {
  try {
    await promisify(execFile)('perl', [`-I${library}`, '-MNet::SMPP', '-MJSON::PP', '-MEncode', '-e1']);
    return true;
  } catch {
    return false;
  }
}

/** A text that has arrived completely, as a phone would show it. */
export type Shown = { via: string; text: string; parts: number; ids: string[]; [field: string]: unknown };
/** A text that a person sends. */
type Typed = {
  via: string;
  from: string;
  to: string;
  text: string;
  alphabet: 'gsm' | 'ucs2';
  form: 'one' | 'udh' | 'udh16' | 'sar' | 'payload';
  reference: number;
  isReversed?: boolean;
};
type Said = { event: string; seq: number; status: number; [field: string]: unknown };

export async function startNetSmpp(found: { folder: string }) {
  const port = await freePort();
  const script = path.join(import.meta.dirname, 'smsc.pl');
  const child = spawn('perl', [`-I${found.folder}`, script, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said: Said[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
  const ended = once(child, 'exit');
  atEnd(async () => {
    child.stdin.end();
    await ended;
  });
  const all = (event: string) => said.filter((one) => one.event === event);
  await waitFor('the SMSC listens', () => all('listening').length === 1);
  return {
    port,
    binds: () => all('bind_transceiver'),
    unbinds: () => all('unbind').length,
    shown: () => all('text') as unknown as Shown[],
    type: (text: Typed) => void child.stdin.write(`${JSON.stringify(text)}\n`),
    /** The statuses of our answers to the texts of persons and to receipts. */
    answers: () => all('deliver_sm_resp').map(({ status }) => status),
  };
}
