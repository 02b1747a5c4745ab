import { pathToFileURL } from 'node:url';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { faultOf, refuseSettings } from '../shared/config/faults.ts';
import { startUpOrExit, stopWithGrace } from '../shared/lifecycle.ts';
import { isCertificateFile } from './inbound/certificate.ts';
import { startInbound } from './inbound/server.ts';

async function main(): Promise<void> {
  const tlsFile = config.INBOUND_TLS_FILE;
  // This is checked here, not with the settings of all processes, because this process may be the only one that may
  // read the key.
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
  stopWithGrace('messages', () => inbound.stop(config.SHUTDOWN_SECONDS * 500));
  logger.info({ port: inbound.port }, 'inbound started');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
