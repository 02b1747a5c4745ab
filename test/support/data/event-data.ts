import { endpoints } from '../../../api/routes/index.ts';
import type { EventType } from '../../../shared/schemas/events.ts';
import { descriptionOf, type Schema } from '../api/description.ts';
import { exampleOf } from '../api/fields.ts';

const made = new Map<EventType, object>();

/** Returns data that an event of this type may carry, by the API description. The data belongs to no real record. */
export function eventData(type: EventType): object {
  const { document, resolve } = descriptionOf(endpoints);
  const data =
    made.get(type) ?? exampleOf(resolve, shapeOf(document.components.schemas, type)['properties'].data);
  made.set(type, data);
  return data;
}

function shapeOf(schemas: Record<string, Schema>, type: EventType): Schema {
  const address: string = schemas['Event']!['discriminator'].mapping[type];
  return schemas[address.slice(address.lastIndexOf('/') + 1)]!;
}
