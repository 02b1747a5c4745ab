import type { IncomingMessage } from 'node:http';
import { problem } from '../../shared/errors.ts';
import type { Caller } from '../../shared/schemas/scopes.ts';
import { currentVersion, isKnownVersion, knownVersions, type Version } from '../../shared/versions.ts';

/** The version in force: the header's, else the one that the key is pinned to, else the current one. */
export function serviceVersion(request: IncomingMessage, caller: Caller): Version {
  const version = request.headers['service-version'] ?? caller.apiVersion ?? currentVersion;
  if (!isKnownVersion(version))
    throw problem('unsupported_version', { detail: `Known versions: ${knownVersions.join(', ')}.` });
  return version;
}
