import { once } from 'node:events';
import { logger } from '../shared/common/logger.ts';
import { config } from '../shared/config/config.ts';
import { openBroadcast } from '../shared/coordination/broadcast.ts';
import { warmUpPhoneNumbers } from '../shared/formats/sms/phone-number.ts';
import { startUpOrExit, stopWithGrace } from '../shared/lifecycle.ts';
import { warmUpSandbox } from '../shared/sandbox/sandbox.ts';
import { createApp } from './app.ts';
import { createHttpServer, stopHttpServer } from './http-server.ts';

/** New connections that may wait while the process is busy; the system allows as many as it is set to (somaxconn). */
const backlog = 4096;
const graceMs = config.SHUTDOWN_SECONDS * 1000;
// The rest of the grace closes the database and the queues.
const requestGraceMs = Math.max(graceMs / 2, graceMs - 2_000);

await startUpOrExit('web');
openBroadcast();
const server = createHttpServer(createApp());
stopWithGrace('requests', () => stopHttpServer(server, requestGraceMs));
// Only now that the process knows how to stop.
server.listen({ port: config.PORT, host: config.BIND_ADDRESS, backlog });
await once(server, 'listening');
logger.info({ address: server.address(), publicUrl: config.PUBLIC_URL }, 'web started');
// Warms up now, so that no first request has to wait for a thread to start, or for the tables of all countries.
warmUpSandbox();
warmUpPhoneNumbers();
