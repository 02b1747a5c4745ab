import { jsonFault } from '../formats/json-size.ts';

export const largestData = { length: 1024 * 1024, levels: 64 };
export const tooLarge = `is larger than ${largestData.length / 1024 / 1024} MiB`;

/**
 * Returns the JSON text of a template's data, or its fault. Checks the size first: writing 40 MB of JSON would block
 * the whole process, and reading it could take a thread's memory.
 */
export function encodeData(data: Record<string, unknown>): { json: string } | { fault: string } {
  const fault = jsonFault(data, largestData);
  return fault === null ? { json: JSON.stringify(data) } : { fault };
}
