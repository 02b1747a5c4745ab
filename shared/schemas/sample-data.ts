import { JsonObject } from './fields.ts';

const longest = 5_000;

export const SampleData = JsonObject.superRefine((value, context) => {
  // JsonObject has refused a value that is far too large, so it is not serialized here.
  if (context.issues.length > 0) return;
  const json = JSON.stringify(value);
  // A code point takes one or two units.
  if (json.length > longest && (json.length > 2 * longest || [...json].length > longest))
    context.addIssue({ code: 'custom', message: `must be at most ${longest} characters of JSON` });
}).describe(
  `The values that the template is tested with when it is saved; up to ${longest} characters of JSON`,
);
