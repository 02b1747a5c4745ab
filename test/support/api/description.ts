import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Endpoint } from '../../../api/endpoint.ts';
import { describeApi } from '../../../api/openapi.ts';

/** A part of the API description; its references have not been followed yet. */
export type Schema = Record<string, any>;

const isDate = (text: string) => {
  const [, day] = /^\d{4}-\d\d-(\d\d)T/.exec(text) ?? [];
  // `Date` turns a day that the month does not have into another day.
  return day !== undefined && new Date(text.slice(0, 10)).getUTCDate() === Number(day);
};
const sent = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const received = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const formats = {
  int32: { type: 'number', validate: (value: number) => value >= -(2 ** 31) && value < 2 ** 31 },
  uri: (text: string) => URL.canParse(text),
} as const;

const described = new WeakMap<readonly Endpoint[], Description>();

/** Returns the API description of these operations, to check values against; made once for all files of a process. */
export function descriptionOf(endpoints: readonly Endpoint[]): Description {
  const known = described.get(endpoints) ?? describe(endpoints);
  described.set(endpoints, known);
  return known;
}

function describe(endpoints: readonly Endpoint[]) {
  const text = JSON.stringify(describeApi(endpoints));
  // References contain only the name of a schema, so that any part of the description can be compiled by itself.
  const document = JSON.parse(text.replaceAll('"$ref":"#/components/schemas/', '"$ref":"'));
  const schemas: Record<string, Schema> = document.components.schemas;
  const compilerOf = (dateTime: RegExp) => {
    const ajv = new Ajv2020({
      allErrors: true,
      // A missing type is allowed. The rest of the strict mode stays on, so that an unknown format is an error.
      strictTypes: false,
      formats: {
        ...formats,
        'date-time': (value: string) => dateTime.test(value.toUpperCase()) && isDate(value.toUpperCase()),
      },
      // To validate the schemas is most of the cost in every file that asks the API; openapi.test.ts does it once.
      meta: false,
      validateSchema: false,
      // A schema is compiled for a few values only.
      code: { optimize: false },
    });
    // Ajv may ignore these: `oneOf` and the types of the members already tell the events of a union apart.
    ajv.addVocabulary(['example', 'discriminator']);
    for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
    return ajv;
  };
  /** Makes the compiler only at the first value, because many files check values of one kind only, or none. */
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
    /** Returns the faults of a value in a request by the description: times may have any offset. */
    faultsOfSent: faultsWith(sent),
    /** Returns the faults of a value in an answer: times must be UTC, to the millisecond. */
    faultsOfReceived: faultsWith(received),
  };
}

export type Description = ReturnType<typeof describe>;
