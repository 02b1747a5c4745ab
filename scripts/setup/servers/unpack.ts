import fs from 'node:fs';
import path from 'node:path';
import { given } from '../environment.ts';
import * as processes from '../start/processes.ts';

const runs = (name: string) => ['/usr/bin', '/bin'].some((folder) => fs.existsSync(path.join(folder, name)));

type Source = 'system' | 'whole' | 'sid';

export const isDebianLike = (): boolean => runs('apt-get') && runs('dpkg-deb');

const underWay = new Map<string, Promise<string>>();

/** Unpacks like `unpackAlone`. Concurrent calls for one folder share one piece of work. */
export function unpack(
  packages: readonly string[],
  folder: string,
  from: Source = 'system',
): Promise<string> {
  const known = underWay.get(folder);
  if (known) return known;
  const work = unpackAlone(packages, folder, from).finally(() => underWay.delete(folder));
  underWay.set(folder, work);
  return work;
}

/**
 * Downloads packages with their dependencies that are not installed, and unpacks them into a folder. Installs
 * nothing, starts no service and needs no root: apt keeps its lists and archives in a folder of ours. From Debian's
 * sid all dependencies come along, even the C library, which may be newer than the machine's. `whole` does this with
 * the machine's own Debian, which makes a root file system. Returns the error, or ''.
 */
async function unpackAlone(packages: readonly string[], folder: string, from: Source): Promise<string> {
  const work = `${folder}.${process.pid}`;
  const archives = path.join(work, 'archives');
  const lists = path.join(work, 'lists');
  for (const each of [archives, lists]) fs.mkdirSync(path.join(each, 'partial'), { recursive: true });
  const settings = {
    'Dir::State': work,
    'Dir::State::lists': lists,
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::State::extended_states': path.join(work, 'extended_states'),
    'Dir::Cache': work,
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': '1',
    // As root apt would switch to a user of its own, who cannot write here.
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
    ...(from !== 'system' && nothingInstalled(work)),
    ...(from === 'sid' && sourcesOfSid(work)),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const env = { ...given, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  const tree = path.join(work, 'tree');
  fs.mkdirSync(tree);
  try {
    // One unreachable source fails the update as a whole, though the packages may come from the others.
    const update = await processes.outputOf('apt-get', [...options, 'update'], { env });
    const download = await processes.outputOf(
      'apt-get',
      [...options, 'install', '--download-only', '-y', '--no-install-recommends', ...packages],
      { env },
    );
    if (download.code !== 0) return lastLines(update.output + download.output);
    for (const name of fs.readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
      const { code, output } = await processes.outputOf('dpkg-deb', ['-x', path.join(archives, name), tree]);
      if (code !== 0) return lastLines(output);
    }
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(tree, folder);
    return '';
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function nothingInstalled(work: string) {
  const status = path.join(work, 'status');
  fs.writeFileSync(status, '');
  return { 'Dir::State::status': status };
}

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

function sourcesOfSid(work: string) {
  const sources = path.join(work, 'sources');
  fs.writeFileSync(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian sid main\n`);
  return { 'Dir::Etc::sourcelist': sources, 'Dir::Etc::sourceparts': '-' };
}

const lastLines = (output: string): string => `${output.trim().split('\n').slice(-5).join('\n')}\n`;
