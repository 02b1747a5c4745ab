import { JsonObject } from './fields.ts';

const longest = 5_000;

export const SampleData = JsonObject.superRefine((value, context) => {
  if ([...JSON.stringify(value)].length > longest)
    context.addIssue({ code: 'custom', message: `must be at most ${longest} characters of JSON` });
}).meta({
  description: `What the source is tried with when it is saved; up to ${longest} characters of JSON`,
});
