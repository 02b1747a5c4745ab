import path from 'node:path';
import { withAddOns } from '../../shared/config/add-ons.ts';
import { fillIn, given, localDir, platform } from './environment.ts';
import * as kept from './kept.ts';

/**
 * Loaded before scripts/admin and scripts/migrate: without a MYSQL_URL they mean the platform that scripts/start
 * runs here, with all of its settings.
 */
const running = kept.read(path.join(localDir, 'env.json')) as Record<string, string> | undefined;

const { MYSQL_URL: mysqlUrl } = withAddOns(given);
if (running && (!mysqlUrl || mysqlUrl === running['MYSQL_URL'])) fillIn(running);
else platform.isMissing = !mysqlUrl;
