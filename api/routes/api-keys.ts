import * as apiKeys from '../../shared/domain/api-keys/api-keys.ts';
import { ApiKey, ApiKeyChanges, ApiKeyPage, KeyRotation, NewApiKey } from '../../shared/schemas/api-keys.ts';
import { Id } from '../../shared/schemas/fields.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('API keys', { id: Id('key') });

export default [
  endpoint({
    route: 'POST /v2/api-keys',
    id: 'createApiKey',
    summary: 'Create an API key',
    description:
      'The answer holds the key, and the signing secret of hmac_sha256; neither is shown again. The key can be given only scopes that your own has, and no longer life. A key in strict mode makes only keys in strict mode; one with limits makes none with the scope sms.send.',
    scope: 'api_keys.write',
    body: NewApiKey,
    examples: [
      {
        name: 'minimal',
        summary: 'A key that sends email',
        body: { name: 'Shop', scopes: ['email.send', 'email.read'] },
      },
      {
        name: 'strict',
        summary: 'A key whose requests must be signed',
        body: { name: 'Back office', strictMode: true, signing: { algorithm: 'hmac_sha256' } },
      },
    ],
    status: 201,
    response: ApiKey,
    problems: ['limit_exceeded'],
    faults: ({ body }) => apiKeys.faultsOfNew(body),
    handle: ({ caller, body }) => apiKeys.create(caller, body),
  }),
  endpoint({
    route: 'GET /v2/api-keys',
    id: 'listApiKeys',
    summary: 'List the API keys of the workspace, newest first',
    description:
      'All of them come in one page: nextCursor is always null. Keys that have expired stay in it until they are deleted, those that were rotated for 30 days; the tokens of connected apps are not in it. Their key and signingSecret are null here, as only the answer that issued them shows them.',
    scope: 'api_keys.read',
    response: ApiKeyPage,
    handle: ({ caller }) => apiKeys.list(caller),
  }),
  endpoint({
    route: 'GET /v2/api-keys/{id}',
    id: 'getApiKey',
    summary: 'Get one API key',
    description:
      'The key and its signingSecret are null here, as only the answer that issued them shows them; keyPrefix and keyLast4 help to recognise a key. usedToday and usedThisMonth count the parts of texts that were sent with this key, with those that it replaced, and with those that replaced it. A key that was deleted is not_found.',
    scope: 'api_keys.read',
    response: ApiKey,
    handle: ({ caller, params }) => apiKeys.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/api-keys/{id}',
    id: 'updateApiKey',
    summary: 'Change an API key',
    description:
      'A key cannot switch its own strictMode off or raise its own limits, nor change a key that may do more than itself: one with other scopes, out of strict mode, or free of its own limits. Switching to hmac_sha256 answers with the signing secret, this once.',
    scope: 'api_keys.write',
    body: ApiKeyChanges,
    examples: [{ name: 'minimal', summary: 'Another name', body: { name: 'Shop in London' } }],
    response: ApiKey,
    faults: ({ caller, params, body }) => apiKeys.faultsOfChange(caller, params.id ?? '', body),
    handle: ({ caller, params, body }) => apiKeys.change(caller, params.id, body),
  }),
  endpoint({
    route: 'DELETE /v2/api-keys/{id}',
    id: 'deleteApiKey',
    summary: 'Revoke an API key',
    description:
      'It is refused within a second. A key cannot delete itself, nor a key that may do more than itself; those that it has replaced it can.',
    scope: 'api_keys.write',
    problems: ['in_use'],
    handle: ({ caller, params }) => apiKeys.remove(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/api-keys/{id}/rotate',
    id: 'rotateApiKey',
    summary: 'Replace an API key by a new one',
    description:
      'The new key has an id of its own, and the settings, usage and signing secret of the old one, which goes on for overlapHours. It expires when the old one would have, so a key that expires sooner cannot make it.',
    scope: 'api_keys.write',
    body: KeyRotation,
    examples: [{ name: 'minimal', summary: 'The old key works for another day', body: { overlapHours: 24 } }],
    status: 201,
    response: ApiKey,
    location: ({ id }) => `/v2/api-keys/${id}`,
    problems: ['limit_exceeded', 'not_rotatable'],
    handle: ({ caller, params, body }) => apiKeys.rotate(caller, params.id, body),
  }),
  endpoint({
    route: 'POST /v2/api-keys/{id}/rotate-signing-secret',
    id: 'rotateSigningSecret',
    summary: 'Issue a new signing secret',
    description: 'For keys with hmac_sha256. Signatures by the old secret are accepted for another 24 hours.',
    scope: 'api_keys.write',
    response: ApiKey,
    problems: ['not_rotatable'],
    handle: ({ caller, params }) => apiKeys.rotateSigningSecret(caller, params.id),
  }),
];
