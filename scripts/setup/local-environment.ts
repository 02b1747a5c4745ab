import path from 'node:path';
import { fillIn, given, localDir, platform } from './environment.ts';
import * as kept from './kept.ts';

/**
 * Loaded before scripts/admin and scripts/migrate: without a MYSQL_URL they mean the platform that scripts/start
 * runs here, with all of its settings.
 */
const running = kept.read(path.join(localDir, 'env.json')) as Record<string, string> | undefined;

if (running && (!given['MYSQL_URL'] || given['MYSQL_URL'] === running['MYSQL_URL'])) fillIn(running);
else platform.isMissing = !given['MYSQL_URL'];
