import type { IncomingMessage } from 'node:http';
import { problem } from '../../shared/common/errors.ts';
import { currentVersion, isKnownVersion, knownVersions, type Version } from '../../shared/common/versions.ts';
import type { Caller } from '../../shared/schemas/scopes.ts';

/** Returns the version in force: the header's, else the one that the key is pinned to, else the current one. */
export function serviceVersion(request: IncomingMessage, caller: Caller): Version {
  // Node joins several lines with commas, and no version has one: two lines are never taken for one.
  const named = request.headers['service-version']?.toString();
  const version = named ?? caller.apiVersion ?? currentVersion;
  if (isKnownVersion(version)) return version;
  const known = `Known versions: ${knownVersions.join(', ')}.`;
  throw problem('unsupported_version', {
    detail:
      named === undefined
        ? `The API key is pinned to version ${version}, which this service no longer knows. Pin the key to another version, or send the header Service-Version. ${known}`
        : `The header Service-Version must be sent once, with one known version. ${known}`,
  });
}
