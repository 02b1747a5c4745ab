import { migrateDown, migrateUp } from '../../shared/db/client/migrate.ts';
import { closeDatabase } from '../../shared/db/client.ts';
import { requireDatabase, StartFault } from '../../shared/db/server/server.system.ts';
import { needPlatform } from './environment.ts';

const usage = 'scripts/migrate up | latest | down [--all]';

async function migrate([direction, option]: string[]): Promise<void> {
  needPlatform();
  await requireDatabase();
  if (direction === 'up' || direction === 'latest') return report('Applied', await migrateUp());
  if (direction === 'down' && (option === undefined || option === '--all'))
    return report('Taken back', await migrateDown({ all: option === '--all' }));
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
}

function report(what: string, names: string[]): void {
  process.stdout.write(names.length === 0 ? 'Nothing to do\n' : `${what}: ${names.join(', ')}\n`);
}

if (import.meta.main) {
  try {
    await migrate(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } finally {
    await closeDatabase();
  }
}
