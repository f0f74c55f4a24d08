import { createHmac } from 'node:crypto';
import type { Call } from '../../../src/surfaces/rest/api/call.ts';
import { verifySignature } from '../../../src/surfaces/rest/partner/authenticate.ts';

const secret = 's'.repeat(40);
const signed = (body: string) => createHmac('sha256', secret).update(body).digest('hex');

function call(body: string, signature: string | undefined, requireSignature = true): Call {
  const headers = signature === undefined ? {} : { 'x-signature': signature };
  const caller = { kind: 'key', partner: { requireSignature } };
  return { req: { headers }, caller, secret, rawBody: Buffer.from(body) } as unknown as Call;
}

describe('a signature that the partner demands', () => {
  const refused = expect.objectContaining({ kind: 'invalid_signature' });

  it.each(['', '{"a":1}'])('is needed for the body %j as well', (body) => {
    expect(() => verifySignature(call(body, undefined))).toThrow(refused);
    expect(() => verifySignature(call(body, signed(body)))).not.toThrow();
    expect(() => verifySignature(call(body, signed(`${body} `)))).toThrow(refused);
  });

  it('is not needed where none is demanded, and is judged where one is sent', () => {
    expect(() => verifySignature(call('', undefined, false))).not.toThrow();
    expect(() => verifySignature(call('', signed('x'), false))).toThrow(refused);
  });
});
