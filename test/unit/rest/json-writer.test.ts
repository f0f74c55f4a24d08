import fc from 'fast-check';
import { jsonWriter } from '../../../src/surfaces/rest/api/json-writer.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';

const document = readContract();
const write = jsonWriter(document, 'RateQuote');
const quote = {
  coin_from: 'BTC',
  coin_to: 'USDT',
  rate_type: 'float',
  rate: '64512.345678901234567891',
  min_amount: '0.0003',
  max_amount: '3',
  expires_in: null,
} as const;

describe('writing an object of the contract', () => {
  it('keeps every digit of an amount and the order of the contract', () => {
    const backwards = Object.fromEntries(Object.entries(quote).reverse()) as typeof quote;
    expect(write(backwards)).toBe(
      '{"coin_from":"BTC","coin_to":"USDT","rate_type":"float","rate":64512.345678901234567891,"min_amount":0.0003,"max_amount":3,"expires_in":null}',
    );
  });

  it('writes any text as JSON does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(write({ ...quote, coin_from: text })).coin_from).toBe(text.toWellFormed());
      }),
    );
  });

  it('leaves out members outside the contract', () => {
    expect(write({ ...quote, secret: 'x' } as never)).not.toContain('secret');
  });

  it('refuses a schema with nested objects at the start', () => {
    expect(() => jsonWriter(document, 'Error')).toThrow('Error.errors of the contract is no plain value');
  });
});
