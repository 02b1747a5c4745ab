import { pathToFileURL } from 'node:url';
import closeWithGrace from 'close-with-grace';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { closeEverything, startUpOrExit } from '../shared/lifecycle.ts';
import { startInbound } from './inbound/server.ts';

async function main(): Promise<void> {
  await startUpOrExit('inbound');
  const inbound = await startInbound({
    port: config.INBOUND_PORT,
    address: config.INBOUND_BIND_ADDRESS,
    tlsFile: config.INBOUND_TLS_FILE || undefined,
  });
  closeWithGrace({ delay: config.SHUTDOWN_SECONDS * 1000 }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal }, 'finishing the messages in hand');
    await inbound.stop(config.SHUTDOWN_SECONDS * 500);
    await closeEverything();
  });
  // Logged only now: a reader of this line may stop the process, which must then know how to finish.
  logger.info({ port: inbound.port }, 'inbound started');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
