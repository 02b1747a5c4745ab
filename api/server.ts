import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { openBroadcast } from '../shared/broadcast.ts';
import { openCage } from '../shared/cage/cage.ts';
import { config } from '../shared/config.ts';
import { closeEverything, startUp } from '../shared/lifecycle.ts';
import { logger } from '../shared/logger.ts';
import { createApp } from './app.ts';
import { createHttpServer, stopHttpServer } from './http-server.ts';

const graceMs = config.SHUTDOWN_SECONDS * 1000;
// What is left of the grace closes the database and the queues.
const requestGraceMs = Math.max(graceMs / 2, graceMs - 2_000);

await startUp();
openBroadcast();
const server = createHttpServer(createApp());
closeWithGrace({ delay: graceMs }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping after an error');
  else logger.info({ signal }, 'finishing the requests in hand');
  await stopHttpServer(server, requestGraceMs);
  await closeEverything();
});
// A first request should not wait for threads to start.
openCage();
// Only now that the process knows how to stop.
server.listen(config.PORT, config.BIND_ADDRESS);
await once(server, 'listening');
logger.info({ address: server.address(), publicUrl: config.PUBLIC_URL }, 'web started');
