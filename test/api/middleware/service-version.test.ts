import { expect, test } from 'vitest';
import { describeApi } from '../../../api/openapi.ts';
import { changesIn, currentVersion, isKnownVersion, knownVersions } from '../../../shared/common/versions.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { knownId, parseRaw, sendRaw, startSmallApi } from '../endpoint/small-api.ts';

atEnd(closeQueues);
const api = await startSmallApi();

/** Headers as lines, because a client may repeat them. */
async function sendLines(key: string, ...lines: string[]) {
  const head = ['GET /v2/parcels HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`, ...lines];
  const { status, headers, json } = parseRaw(await sendRaw(api.port, `${head.join('\r\n')}\r\n\r\n`));
  return { status, version: headers.get('service-version'), body: json() };
}

const line = `Service-Version: ${currentVersion}`;
const unsupported = expect.stringMatching(/\/problems\/unsupported_version$/);

test('a version is a date, the newest is the current one, and each says what it changed', () => {
  expect(knownVersions).toEqual([...knownVersions].toSorted());
  expect(knownVersions.at(-1)).toBe(currentVersion);
  for (const version of knownVersions) {
    expect(new Date(version).toISOString().slice(0, 10)).toBe(version);
    expect(isKnownVersion(version)).toBe(true);
    expect(changesIn(version)).not.toBe('');
  }
});

test.each([undefined, null, 20261101, '', '2026-11-02', 'toString', '__proto__'])(
  '%j is no version',
  (value) => expect(isKnownVersion(value)).toBe(false),
);

test('a version may be named in one header line only', async () => {
  expect(await sendLines('msg_good', line)).toMatchObject({ status: 200, version: currentVersion });
  for (const lines of [
    [line, line],
    ['Service-Version:', line],
    [line, 'service-version: 2020-01-01'],
    ['Service-Version:'],
    [`${line}x`],
    [`${line}, ${currentVersion}`],
  ]) {
    const { status, version, body } = await sendLines('msg_good', ...lines);
    expect([status, version, body.type]).toEqual([400, null, unsupported]);
    expect(body.detail).toContain(currentVersion);
  }
});

test('a key that is pinned to a version that is gone is told so, and can name another', async () => {
  const { status, version, body } = await sendLines('msg_outdated');
  expect([status, version, body.type]).toEqual([400, null, unsupported]);
  expect(body.detail).toContain('pinned to version 2019-01-01');
  expect(body.detail).toContain(currentVersion);
  expect(await sendLines('msg_outdated', line)).toMatchObject({ status: 200, version: currentVersion });
});

test('a header that names no known version is refused also where the key is pinned to one', async () => {
  expect((await sendLines('msg_pinned', 'Service-Version: 2019-01-01')).status).toBe(400);
});

test('refusals that come after it name the version in force', async () => {
  changeSettings({ RATE_LIMIT_PER_SECOND: 1e-3, REDIS_URL: 'redis://127.0.0.1:1' });
  const limited = await startSmallApi();
  const version = { 'Service-Version': currentVersion };
  const answers = [
    await api.call('GET', `/v2/parcels/${knownId}x`, { headers: version }),
    await api.call('POST', '/v2/parcels', { body: '{' }),
    await api.call('POST', '/v2/parcels', { body: {} }),
    await limited.call('GET', '/v2/parcels'),
    await limited.call('GET', '/v2/parcels'),
    await api.call('DELETE', `/v2/parcels/${knownId}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 200, 429, 204]);
  for (const { headers } of answers) expect(headers['service-version']).toBe(currentVersion);
});

test('the description of the API names the versions and what they changed', () => {
  const { info, components } = describeApi(api.endpoints);
  for (const version of knownVersions)
    expect(info.description).toContain(`\`${version}\`: ${changesIn(version)}`);
  expect(JSON.stringify(components)).toContain(JSON.stringify(knownVersions));
});
