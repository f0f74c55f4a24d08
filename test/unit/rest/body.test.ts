import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { Big, isDecimal } from '../../../src/base/money.ts';
import { numberSource, parseBody, readBody } from '../../../src/surfaces/rest/api/body.ts';
import { Call } from '../../../src/surfaces/rest/api/call.ts';

describe('readBody', () => {
  it('refuses the body of a client that disconnected as an invalid request', async () => {
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-type': 'application/json', 'content-length': '100' };
    const call = new Call(req, new ServerResponse(req), 'id', {
      address: '',
      isSecure: false,
      isLocal: true,
      isBehindProxy: false,
    });
    req.destroy();
    await expect(readBody(call)).rejects.toMatchObject({ kind: 'invalid_request', status: 400 });
  });
});

describe('parseBody', () => {
  const parsed = (json: string) => parseBody(Buffer.from(json)) as Record<string, unknown>;

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1, "b":{"c":{},"d":"x{\\"c\\":","c" :2}}', 'b.c'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"list":[{"x":1},{"x":1,"y":0,"x":2}]}', 'list.x'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    [`{"${'n'.repeat(99)}":1,"${'n'.repeat(99)}":2}`, 'n'.repeat(60)],
  ])('refuses %s, which has a member twice', (json, field) => {
    const fault = { field, kind: 'duplicate_field', detail: `${field} is sent twice` };
    expect(() => parsed(json)).toThrow(expect.objectContaining({ kind: 'duplicate_field', status: 400 }));
    expect(() => parsed(json)).toThrow(expect.objectContaining({ extras: { faults: [fault] } }));
  });

  it('takes every body that has each member once in its object', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        // The numbers of JavaScript may have exponents that the parser refuses.
        const once = JSON.stringify(JSON.parse(json), (_, value) => (typeof value === 'number' ? 1 : value));
        expect(JSON.stringify(parsed(once))).toBe(once);
      }),
    );
    expect(parsed('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"\\"a\\":{"}')).toMatchObject({ a: { a: 1 } });
  });

  it('keeps the exact value of every number, in any place and notation', () => {
    const digits = fc.integer({ min: 1, max: 24 }).chain((length) => fc.stringMatching(new RegExp(`^\\d{${length}}$`)));
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.option(digits), fc.option(fc.integer({ min: -40, max: 40 })))
      .map(([sign, whole, fraction, exponent]) => {
        const plain = `${sign}${BigInt(whole)}${fraction === null ? '' : `.${fraction}`}`;
        return exponent === null ? plain : `${plain}e${exponent}`;
      });
    const gap = fc.constantFrom('', ' ', '\n\t ');
    fc.assert(
      fc.property(number, number, gap, fc.string(), (one, other, space, text) => {
        const body = parsed(`{"a":${space}${one}${space},"text":${JSON.stringify(text)},"b" :${other}}`);
        for (const [member, sent] of [
          ['a', one],
          ['b', other],
        ] as const) {
          if (isDecimal(sent)) expect(new Big(numberSource(body, member)).eq(new Big(sent))).toBe(true);
          else expect(body[member]).toBeNaN();
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '0.1',
    '123456789012345',
    '0.0000000000001',
    '0.1000000000000000055',
    '12345678901234567890',
    '1e-7',
    '1E3',
    '100000',
  ])('reads %s exactly', (sent) => {
    expect(new Big(numberSource(parsed(`{"amount":${sent}}`), 'amount')).eq(new Big(sent))).toBe(true);
  });

  it.each(['1e-400', '1e31', '0.00000000000000000000000000000000000000001'])('makes %s no number', (sent) => {
    expect(parsed(`{"amount":${sent}}`)).toEqual({ amount: Number.NaN });
  });

  it('gives no digits of a copy', () => {
    const body = parsed('{"amount": 0.5}');
    expect(() => numberSource({ ...body }, 'amount')).toThrow('is a copy');
  });
});
