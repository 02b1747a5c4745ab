import type { Description, Schema } from './description.ts';

type Step = string | number;

/** One place in a JSON body. `containers` are the schemas of objects and arrays around it, from the body inwards. */
export type Field = { steps: Step[]; name: string; schema: Schema; containers: Schema[] };

export type Resolve = Description['resolve'];

/** Returns every place in the values of this schema: members of objects, and the first item of arrays. */
export function fieldsOf(resolve: Resolve, schema: Schema, above?: Field): Field[] {
  return variantsOf(resolve, schema).flatMap((variant) => {
    const members: [Step, Schema][] = Object.entries<Schema>(variant['properties'] ?? {});
    if (variant['items']) members.push([0, variant['items']]);
    return members.flatMap(([step, member]) => {
      const steps = [...(above?.steps ?? []), step];
      const containers = [...(above?.containers ?? []), variant];
      const field = { steps, name: nameOf(steps), schema: member, containers };
      return [field, ...fieldsOf(resolve, member, field)];
    });
  });
}

/** Returns the name of a place as problems write it: `template.name`, `messages[3]`. */
function nameOf(steps: Step[]): string {
  return steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

/** Returns the schemas that a value may follow, except null. */
export function variantsOf(resolve: Resolve, schema: Schema): Schema[] {
  const whole = resolve(schema);
  const choices: Schema[] | undefined = whole['anyOf'] ?? whole['oneOf'];
  if (choices) return choices.flatMap((choice) => variantsOf(resolve, choice));
  if (whole['allOf'])
    return [Object.assign({}, ...whole['allOf'].flatMap((part: Schema) => variantsOf(resolve, part)))];
  return whole['type'] === 'null' ? [] : [whole];
}

export function typesOf(resolve: Resolve, schema: Schema): Set<string> {
  return new Set(variantsOf(resolve, schema).flatMap(({ type }) => type ?? []));
}

/** Returns a value that the schema takes. Where there is a pattern or a rule beside the schema, `example` must help. */
export function exampleOf(resolve: Resolve, schema: Schema): any {
  const [variant = {}] = variantsOf(resolve, schema);
  const whole = { ...resolve(schema), ...variant };
  // An example time in the description is soon too far in the past.
  if (whole['format'] === 'date-time') return new Date(Date.now() - 60_000).toISOString();
  const given = whole['example'] ?? whole['default'] ?? whole['const'] ?? whole['enum']?.[0];
  if (given !== undefined) return given;
  const [type] = [whole['type']].flat().filter((name) => name !== 'null');
  if (type === 'object') {
    const required: string[] = whole['required'] ?? [];
    return Object.fromEntries(required.map((name) => [name, exampleOf(resolve, whole['properties'][name])]));
  }
  if (type === 'array')
    return Array.from({ length: whole['minItems'] ?? 0 }, () => exampleOf(resolve, whole['items']));
  if (type === 'integer' || type === 'number') return whole['minimum'] ?? 1;
  if (type === 'boolean') return false;
  return 'x'.repeat(Math.max(1, whole['minLength'] ?? 0));
}

/** Returns the body with this value in this place; missing objects and arrays around it are made. */
export function withValue(
  resolve: Resolve,
  body: object,
  { steps, containers }: Field,
  value: unknown,
): object {
  const copy = structuredClone(body);
  let at: any = copy;
  for (const [index, step] of steps.entries()) {
    if (index === steps.length - 1) at[step] = value;
    else {
      if (at[step] === null || typeof at[step] !== 'object')
        at[step] = exampleOf(resolve, containers[index + 1]!);
      at = at[step];
    }
  }
  return copy;
}
