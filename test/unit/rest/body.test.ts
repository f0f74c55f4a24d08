import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { readBody } from '../../../src/rest/body.ts';
import { Call } from '../../../src/rest/call.ts';

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
