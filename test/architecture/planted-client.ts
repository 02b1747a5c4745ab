import type { Guarded } from './planted.ts';
import { raw, typedClientAsksTheApi } from './typed-client.ts';

const [named] = Object.keys(raw) as [string];

export const plantedClient: Guarded[] = [
  {
    guarantee: 'flows tests and benches ask the API by the typed client',
    rule: typedClientAsksTheApi,
    breaches: [
      { 'test/flows/sms.test.ts': "const answer = await fetch(`${url}/v2/sms`, { method: 'POST' });" },
      { 'test/flows/sms.test.ts': "import { request } from 'undici';\nawait request(`${url}/v2/sms`);" },
      { 'test/flows/sms.test.ts': "await api.request('POST', '/v2/sms', { key, body });" },
      { 'test/flows/sms/run.ts': 'const sent = await sendSms(api, own);' },
      { 'test/flows/sms.test.ts': "import { Agent, request } from 'node:https';" },
      { 'scripts/benches/lines/sms.ts': "const { Agent } = await import('undici');" },
      { 'scripts/benches/lines/sms.ts': 'await agent.request({ origin, path, method });' },
      { 'scripts/benches/players/sms.ts': 'socket.write(`POST /v2/sms HTTP/1.1\\r\\n\\r\\n`);' },
      { [named]: "await api.post('/v2/email', { body });" },
    ],
    harmless: {
      [named]: "import { request } from 'undici';",
      'test/flows/sms.test.ts':
        "// As fetch('/v2/sms') would.\nawait customerOf(url, own).post('/v2/sms', { body: request });",
      'scripts/benches/lines/sms.ts':
        "const path = '/v2/sms';\nconst answer = await load.ask(request(path));",
      'scripts/benches/players/receiver.ts':
        "import http from 'node:http';\nsocket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');",
      'test/api/sms.test.ts': "await api.request('POST', '/v2/sms', { key, body });",
    },
  },
];
