import path from 'node:path';
import { optionsOf } from '../benches/options.ts';
import { checkout, given, localDir } from './environment.ts';
import { startServices } from './servers/services.ts';
import * as processes from './start/processes.ts';
import * as session from './start/session.ts';

async function bench(): Promise<number> {
  // Mistakes in the arguments are reported before servers are started.
  optionsOf(process.argv.slice(2));
  const folder = path.join(localDir, 'bench');
  if (!(await session.hold(folder)))
    throw new session.Unfit('Another bench is running; two at once would measure each other.');
  const { mysqlUrl, redisUrl } = await startServices({ localDir: folder, log: session.log, fresh: true });
  const program = path.join(checkout, 'scripts/benches/main.ts');
  const child = processes.start('application', 'node', [program, ...process.argv.slice(2)], {
    env: { ...processes.withOwnNode(given), MYSQL_URL: mysqlUrl, REDIS_URL: redisUrl },
    stdio: 'inherit',
  });
  const { code } = await processes.exitOf(child);
  return code ?? 1;
}

if (import.meta.main) await session.run(bench);
