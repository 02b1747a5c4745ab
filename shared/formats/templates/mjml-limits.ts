import type { ElementFault, MjmlOutline } from './mjml-elements.ts';

/**
 * Limits for sources on which mjml takes long or makes gigabytes on any machine. The time limit of the sandbox would
 * also end these, at the cost of a process.
 */
const limits = {
  /** Each element becomes some 300 bytes of HTML at least. */
  elements: 3_000,
  /** Each image has rules for each of the other images. */
  carouselImages: 50,
  /** Characters that are put into elements, times the elements that they may be put into. */
  spread: 50_000_000,
  /** Rules, times the elements that each is tried on. */
  tries: 2_000_000,
};
/** The tags of HTML that one element of mjml becomes, roughly. */
const tagsOfElement = 10;

export function limitFaults(source: string, { elements, regions }: MjmlOutline): ElementFault[] {
  const body = elements.find(({ name }) => name === 'mj-body');
  if (!body) return [];
  const inBody = elements.filter(({ start }) => start > body.start && start < body.end);
  const images = inBody.filter(({ name }) => name === 'mj-carousel-image');
  const tags =
    tagsOfElement * inBody.length +
    regions.reduce(
      (sum, { kind, start, end }) => sum + (kind === 'content' ? countOf(source, '<', start, end) : 0),
      0,
    );

  const faults: ElementFault[] = [];
  const refuse = (at: number, message: string) => faults.push({ at, message });
  if (inBody.length > limits.elements)
    refuse(body.start, `mj-body has more than ${limits.elements} elements`);
  if (images.length > limits.carouselImages)
    refuse(
      images[limits.carouselImages]!.start,
      `there are more than ${limits.carouselImages} images in carousels`,
    );
  for (const { name, start, end, attributes } of elements) {
    const isInlined =
      name === 'mj-style' && attributes.some(({ name, value }) => name === 'inline' && value === 'inline');
    const isSpread = isInlined || name === 'mj-attributes' || name === 'mj-html-attributes';
    if (!isSpread) continue;
    const tries = name === 'mj-attributes' ? 0 : countOf(source, isInlined ? '{' : '<', start, end) * tags;
    if ((end - start) * tags > limits.spread || tries > limits.tries)
      refuse(start, `${name} is too long for so many elements`);
  }
  return faults;
}

function countOf(source: string, character: string, start: number, end: number): number {
  let count = 0;
  for (let at = source.indexOf(character, start); at >= 0 && at < end; at = source.indexOf(character, at + 1))
    count += 1;
  return count;
}
