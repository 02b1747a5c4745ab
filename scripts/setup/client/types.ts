import fs from 'node:fs';
import path from 'node:path';
import { describeApi } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { checkout } from '../environment.ts';
import { typesOf } from './openapi-types.ts';

export const clientTypesFile = path.join(checkout, 'shared/client/description.d.ts');

type Operation = {
  parameters?: { in?: string; $ref?: string }[];
  responses: Record<string, { headers?: unknown; content?: Record<string, unknown> }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: unknown;
  components: { schemas: object };
};

/**
 * Returns the types of the client. The client sets headers and reads refusals itself, so the types have only the JSON
 * that each operation sends and returns: half of the whole description, and half the work for a compiler.
 */
export async function clientTypes(): Promise<string> {
  const { webhooks: _, ...document }: Document = JSON.parse(JSON.stringify(describeApi(endpoints)));
  for (const operation of Object.values(document.paths).flatMap((siblings) => Object.values(siblings))) {
    // Shared parameters are headers.
    operation.parameters = operation.parameters?.filter((one) => !one.$ref && one.in !== 'header') ?? [];
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, { headers: _headers, ...response }]) => {
          const json = response.content?.['application/json'];
          return [status, { ...response, ...(json ? { content: { 'application/json': json } } : {}) }];
        }),
    );
  }
  document.components = { schemas: document.components.schemas };
  const note = '// Made from the description of the API by `npm run client`; not to be changed by hand.\n';
  return note + (await typesOf(document));
}

if (import.meta.main) fs.writeFileSync(clientTypesFile, await clientTypes());
