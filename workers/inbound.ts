import { pathToFileURL } from 'node:url';
import closeWithGrace from 'close-with-grace';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { faultOf, refuseSettings } from '../shared/config/faults.ts';
import { closeEverything, startUpOrExit } from '../shared/lifecycle.ts';
import { isCertificateFile } from './inbound/certificate.ts';
import { startInbound } from './inbound/server.ts';

async function main(): Promise<void> {
  const tlsFile = config.INBOUND_TLS_FILE;
  // Not a fault of the settings in all processes: this one alone may be allowed to read the key.
  if (tlsFile !== undefined && !isCertificateFile(tlsFile))
    refuseSettings([
      faultOf(
        'INBOUND_TLS_FILE',
        'must be a PEM file that can be read, with a certificate and its key',
        '/etc/ssl/private/inbound.pem',
      ),
    ]);
  await startUpOrExit('inbound');
  const inbound = await startInbound({
    port: config.INBOUND_PORT,
    address: config.INBOUND_BIND_ADDRESS,
    tlsFile,
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
