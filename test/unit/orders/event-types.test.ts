import { eventTypeNames, eventTypeOf, eventTypes, otherEventType } from '../../../src/orders/event-types.ts';
import { eventId, eventNamed } from '../../../src/orders/read/event-facts.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { partnerEventTypes } from '../../../src/webhooks/partner-events.ts';

describe('the types of events', () => {
  it('are those of the contract', () => {
    const schemas = readContract().components?.schemas as Record<string, { enum?: string[] }>;
    expect([...(schemas.EventType?.enum ?? [])].sort()).toEqual([...eventTypeNames].sort());
    expect(schemas.PartnerEventType?.enum).toEqual(Object.keys(partnerEventTypes));
  });

  it.each(Object.entries(eventTypes))('%s is %s', (cause, type) => {
    expect(eventTypeOf(cause)).toBe(type);
  });

  it.each([
    'something_new',
    'constructor',
    '__proto__',
    '',
  ])('of the unknown cause "%s" is the general one', (cause) => {
    expect(eventTypeOf(cause)).toBe(otherEventType);
  });
});

describe('the identifier of an event', () => {
  const event = { orderId: '0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90', seq: 12 };

  it('names the order and the number of the event', () => {
    expect(eventId(event)).toBe('evt_0199c0de7a117c3e9a4e5d2f6b7c8d90_12');
    expect(eventNamed(eventId(event))).toEqual(event);
  });

  it.each([
    '',
    'evt_',
    'evt_0199c0de7a117c3e9a4e5d2f6b7c8d90',
    'evt_0199c0de7a117c3e9a4e5d2f6b7c8d90_0',
    'evt_0199c0de7a117c3e9a4e5d2f6b7c8d90_01',
    'evt_0199C0DE7a117c3e9a4e5d2f6b7c8d90_1',
    'evt_0199c0de7a117c3e9a4e5d2f6b7c8d90_12345678901',
    'evt_0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90_1',
    ' evt_0199c0de7a117c3e9a4e5d2f6b7c8d90_1',
  ])('is not "%s"', (text) => {
    expect(eventNamed(text)).toBeNull();
  });
});
