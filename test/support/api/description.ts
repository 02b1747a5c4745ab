import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Endpoint } from '../../../api/endpoint.ts';
import { describeApi } from '../../../api/openapi.ts';

/** A part of the API description, where references have not been followed yet. */
export type Schema = Record<string, any>;

const isDate = (text: string) => {
  const [, day] = /^\d{4}-\d\d-(\d\d)T/.exec(text) ?? [];
  // A day that the month does not have becomes another day.
  return day !== undefined && new Date(text.slice(0, 10)).getUTCDate() === Number(day);
};
const sent = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const received = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const formats = {
  int32: { type: 'number', validate: (value: number) => value >= -(2 ** 31) && value < 2 ** 31 },
  uri: (text: string) => URL.canParse(text),
} as const;

const described = new WeakMap<readonly Endpoint[], Description>();

/** The description that these operations give, for holding values against it; made once for all files of a process. */
export function descriptionOf(endpoints: readonly Endpoint[]): Description {
  const known = described.get(endpoints) ?? describe(endpoints);
  described.set(endpoints, known);
  return known;
}

function describe(endpoints: readonly Endpoint[]) {
  const text = JSON.stringify(describeApi(endpoints));
  // Schemas are referred to by their name alone, so that any part of it can be compiled by itself.
  const document = JSON.parse(text.replaceAll('"$ref":"#/components/schemas/', '"$ref":"'));
  const schemas: Record<string, Schema> = document.components.schemas;
  const compilerOf = (dateTime: RegExp) => {
    const ajv = new Ajv2020({
      allErrors: true,
      // An unknown format must not pass unseen; that a type is missing is no fault.
      strictTypes: false,
      formats: {
        ...formats,
        'date-time': (value: string) => dateTime.test(value.toUpperCase()) && isDate(value.toUpperCase()),
      },
      // The greater part of the cost, in every file that asks the API; openapi.test.ts does it once for all schemas.
      meta: false,
      validateSchema: false,
      // A schema is compiled for a few values only.
      code: { optimize: false },
    });
    // A union of events is told apart by oneOf and the types of its members.
    ajv.addVocabulary(['example', 'discriminator']);
    for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
    return ajv;
  };
  /** The compiler is made at the first value: many files hold values of one kind only, or none. */
  const faultsWith = (dateTime: RegExp) => {
    let ajv: Ajv2020 | undefined;
    const compiled = new WeakMap<Schema, ValidateFunction>();
    return (schema: Schema, value: unknown): string[] => {
      ajv ??= compilerOf(dateTime);
      const check = compiled.get(schema) ?? ajv.compile(schema);
      compiled.set(schema, check);
      if (check(value)) return [];
      return check.errors!.map(({ instancePath, message, params }) =>
        `${instancePath} ${message} ${'additionalProperty' in params ? params.additionalProperty : ''}`.trim(),
      );
    };
  };
  return {
    document,
    operation: ({ path, method }: Endpoint): Schema => document.paths[path][method],
    /** Follows a reference. */
    resolve: (part: Schema): Schema => {
      const reference: string | undefined = part['$ref'];
      if (reference === undefined) return part;
      const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(reference) ?? [];
      return kind ? document.components[kind][name!] : schemas[reference]!;
    },
    /** The faults of a value in a request by the description: times may have any offset. */
    faultsOfSent: faultsWith(sent),
    /** The faults of a value in an answer: times are UTC, to the millisecond. */
    faultsOfReceived: faultsWith(received),
  };
}

export type Description = ReturnType<typeof describe>;
