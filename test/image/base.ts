import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { unpack } from '../../scripts/setup/servers/unpack.ts';
import { Unfit } from '../../scripts/setup/start/session.ts';

const packages = ['base-files', 'busybox', 'libc6', 'libgcc-s1', 'libstdc++6'];
const certificates = '/etc/ssl/certs/ca-certificates.crt';
/** The id of the user `node` in `node:24-alpine`. */
const nodeId = 1000;

/** Makes a root file system that replaces `node:24-alpine` for the Dockerfile: this Node, npm, and a shell's needs. */
export async function makeBase(folder: string): Promise<void> {
  const fault = await unpack(packages, folder, 'whole');
  if (fault) throw new Unfit(fault);
  const at = (name: string) => path.join(folder, name);
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    fs.writeFileSync(at(name), text);
  };
  for (const name of ['usr/share/doc', 'usr/share/man', 'usr/share/locale'])
    fs.rmSync(at(name), { recursive: true, force: true });
  for (const name of [
    'bin',
    'sbin',
    'usr/bin',
    'usr/sbin',
    'usr/local/bin',
    'usr/local/lib/node_modules',
    'tmp',
  ])
    fs.mkdirSync(at(name), { recursive: true });
  fs.chmodSync(at('tmp'), 0o1777);
  const user = `node:x:${nodeId}`;
  write('etc/passwd', `root:x:0:0:root:/root:/bin/sh\n${user}:${nodeId}::/home/node:/bin/sh\n`);
  write('etc/group', `root:x:0:\n${user}:\n`);
  fs.mkdirSync(at('home/node'), { recursive: true });
  fs.chownSync(at('home/node'), nodeId, nodeId);
  execFileSync('chroot', [folder, '/bin/busybox', '--install', '-s']);
  fs.copyFileSync(fs.realpathSync(process.execPath), at('usr/local/bin/node'));
  fs.chmodSync(at('usr/local/bin/node'), 0o755);
  fs.cpSync(npmFolder(), at('usr/local/lib/node_modules/npm'), { recursive: true });
  fs.symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', at('usr/local/bin/npm'));
  // npm uses the registry of this machine's npm, and trusts the same certificates.
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  fs.mkdirSync(at('etc/ssl/certs'), { recursive: true });
  fs.copyFileSync(certificates, at(certificates));
  write('root/.npmrc', `registry=${registry}\ncafile=${certificates}\n`);
}

function npmFolder(): string {
  const command = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  return path.dirname(path.dirname(fs.realpathSync(command)));
}
