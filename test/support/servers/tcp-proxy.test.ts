import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../time/wait-for.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let proxy: TcpProxy;

beforeEach(async () => {
  // Answers each piece in capitals, and says goodbye when the other side has ended.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => socket.write(data.toString().toUpperCase()));
    socket.on('end', () => socket.end('goodbye'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy = await startTcpProxy(`smtp://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  onTestFinished(() => {
    proxy.close();
    server.close();
  });
});

async function connect() {
  const socket = net.connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true });
  let received = '';
  let failure: NodeJS.ErrnoException | undefined;
  socket.on('data', (data) => (received += data.toString()));
  socket.on('error', (error) => (failure = error));
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  onTestFinished(() => void socket.destroy());
  return {
    say: (text: string) => socket.write(text),
    end: () => socket.end(),
    hears: (text: string) =>
      waitFor(`${text} is heard`, () => received === text || (failure && Promise.reject(failure))),
    received: () => received,
    fails: (code: string) => waitFor(`it fails with ${code}`, () => failure?.code === code),
  };
}

test('everything passes, both ways and also after one side has ended', async () => {
  const client = await connect();
  client.say('hello ');
  await client.hears('HELLO ');
  expect(proxy.connections()).toBe(1);
  client.end();
  await client.hears('HELLO goodbye');
  await waitFor('no connection is left', () => proxy.connections() === 0);
});

test('cut resets what is open and lets new connections pass', async () => {
  const client = await connect();
  client.say('hello');
  await client.hears('HELLO');
  proxy.cut();
  await client.fails('ECONNRESET');
  const next = await connect();
  next.say('again');
  await next.hears('AGAIN');
});

test('refuse resets what is open and refuses new connections, until it passes on the same port', async () => {
  const client = await connect();
  client.say('hello');
  await client.hears('HELLO');
  proxy.refuse();
  await client.fails('ECONNRESET');
  await (await connect()).fails('ECONNREFUSED');
  await proxy.pass();
  const next = await connect();
  next.say('again');
  await next.hears('AGAIN');
});

test('freeze accepts and holds everything back, until it passes complete and in order', async () => {
  const client = await connect();
  client.say('one ');
  await client.hears('ONE ');
  proxy.freeze();
  client.say('two ');
  const late = await connect();
  late.say('hello');
  await waitFor('the second connection is accepted', () => proxy.connections() === 2);
  // These round trips do not use the proxy. After them, any data that could pass the proxy would have passed.
  await roundTrip();
  expect([client.received(), late.received()]).toEqual(['ONE ', '']);
  client.say('three ');
  await proxy.pass();
  await client.hears('ONE TWO THREE ');
  await late.hears('HELLO');
});

test('delay holds each piece back for so long, each way', async () => {
  const client = await connect();
  proxy.delay(100);
  const start = performance.now();
  client.say('hello');
  await client.hears('HELLO');
  // Timers may fire a millisecond early.
  expect(performance.now() - start).toBeGreaterThanOrEqual(195);
});

async function roundTrip(): Promise<void> {
  const server = net.createServer((socket) => socket.end('x')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (let round = 0; round < 20; round += 1) {
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket.resume(), 'close');
  }
  server.close();
}
