import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Document } from 'openapi-backend';
import { type Answer, jsonType } from '../../../src/surfaces/rest/api/answer.ts';
import { type Door, openApi } from '../../../src/surfaces/rest/api/api.ts';
import { Call } from '../../../src/surfaces/rest/api/call.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'one operation', version: '1' },
  paths: {
    '/thing': {
      get: {
        operationId: 'getThing',
        security: [],
        responses: {
          200: {
            description: 'A thing.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['name'],
                  properties: { name: { type: 'string' }, rate: { type: ['number', 'string'], pattern: '^[0-9.]+$' } },
                },
              },
            },
          },
        },
      },
    },
  },
} as unknown as Document;

const openDoor: Door<'getThing'> = {
  admit: async () => {},
  authorize: () => {},
  work: (_request, _id, handle) => handle(),
};

async function answerOf(body: unknown, checksAnswers: boolean, headers = {}): Promise<Answer> {
  const api = await openApi({
    document,
    root: '/api',
    ignoreTrailingSlashes: true,
    door: () => openDoor,
    handlers: { getThing: () => body },
    toAnswer: (reply: unknown) => ({ status: 200, type: jsonType, body: JSON.stringify(reply) }),
    checksAnswers,
  });
  const req = { method: 'GET', url: '/api/thing', headers } as IncomingMessage;
  const client = { address: '127.0.0.1', isSecure: false, isLocal: true, isBehindProxy: false };
  return api(new Call(req, {} as ServerResponse, 'a request', client));
}

describe('an answer that is none of the contract', () => {
  it('is an error where answers are checked, and names the operation and the place', async () => {
    await expect(answerOf({ name: 5 }, true)).rejects.toThrow('the answer of getThing is none of the contract: /name');
    await expect(answerOf({}, true)).rejects.toThrow("must have required property 'name'");
    expect((await answerOf({ name: 'a' }, true)).body).toBe('{"name":"a"}');
  });

  it('is found too where the request asks for amounts as strings', async () => {
    const asText = { amounts: 'string' };
    await expect(answerOf({ name: 5, rate: 1 }, true, asText)).rejects.toThrow('/name must be string');
    await expect(answerOf({ name: 'a', rate: -1 }, true, asText)).rejects.toThrow('/rate must match pattern');
    expect((await answerOf({ name: 'a', rate: 1.5 }, true, asText)).status).toBe(200);
  });

  it('is sent where they are not', async () => {
    expect((await answerOf({ name: 5 }, false)).body).toBe('{"name":5}');
  });
});
