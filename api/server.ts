import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { openBroadcast } from '../shared/coordination/broadcast.ts';
import { closeEverything, startUpOrExit } from '../shared/lifecycle.ts';
import { openSandbox } from '../shared/sandbox/sandbox.ts';
import { createApp } from './app.ts';
import { createHttpServer, stopHttpServer } from './http-server.ts';
import { descriptionOf } from './public/docs.ts';
import { endpoints } from './routes/index.ts';

/** New connections that may wait while the process is busy; the system allows as many as it is set to (somaxconn). */
const backlog = 4096;
const graceMs = config.SHUTDOWN_SECONDS * 1000;
// The rest of the grace closes the database and the queues.
const requestGraceMs = Math.max(graceMs / 2, graceMs - 2_000);

await startUpOrExit();
openBroadcast();
const server = createHttpServer(createApp());
closeWithGrace({ delay: graceMs }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping after an error');
  else logger.info({ signal }, 'finishing the requests in hand');
  await stopHttpServer(server, requestGraceMs);
  await closeEverything();
});
// A first request should not wait for threads to start, nor others for the description of the API.
openSandbox();
descriptionOf(endpoints);
// Only now that the process knows how to stop.
server.listen({ port: config.PORT, host: config.BIND_ADDRESS, backlog });
await once(server, 'listening');
logger.info({ address: server.address(), publicUrl: config.PUBLIC_URL }, 'web started');
